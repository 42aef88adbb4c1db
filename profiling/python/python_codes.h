// Numbers Python's code objects, and stores the data that names their lines in
// the process's record (python_record.h).
//
//   PythonCodeWriter codes;
//   codes.Begin(folder, "1234.0.python", facts);
//   const uint32_t number = codes.FindNumber(code_object);
//
// A code object is recognised by its address, names, line table and first line.
// If another code object takes its place, or the same source is compiled again,
// the content decides: the same content has one number.
//
// Reads the objects of a running interpreter, and checks each before it uses
// it. Owns its file; the caller owns the folder's descriptor. Works inside
// malloc. Thread-compatible: it needs a lock around it, because the
// interpreter's is not enough. Memory: a code object's names and line table in
// the file, some 64 bytes of an index, and 320 KiB for those used last.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_CODES_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_CODES_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/python/interpreter_layout.h"
#include "footprint/profiling/records/python_record.h"
#include "footprint/profiling/sites/growing_file.h"
#include "footprint/profiling/sites/number_index.h"

namespace footprint::profiling_internal {

// The types by which objects are recognised: addresses of type objects.
struct PythonTypes {
  uintptr_t code = 0;
  uintptr_t str = 0;
  uintptr_t bytes = 0;
};

class PythonCodeWriter {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  constexpr PythonCodeWriter() = default;
  PythonCodeWriter(const PythonCodeWriter&) = delete;
  PythonCodeWriter& operator=(const PythonCodeWriter&) = delete;

  struct Facts {
    uint32_t version = 0;
    PythonFrames frames = PythonFrames::kUntested;
    PythonObjects objects = PythonObjects::kAsChosen;
    uint64_t module_begin_address = 0;
  };

  // Returns false if the file cannot be created.
  bool Begin(int folder, const char* file_name, const Facts& facts);
  void NoteThatObjectsCount();
  // Leaves the file to the parent of a fork.
  void Close();

  void SetLayout(const InterpreterLayout& layout, const PythonTypes& types) {
    layout_ = layout;
    types_ = types;
  }

  // Returns kNone if it is not a code object, or if there is no room.
  uint32_t FindNumber(uintptr_t code);

 private:
  struct Text {
    uintptr_t begin = 0;
    uint32_t bytes = 0;
    uint8_t kind = 1;
  };
  struct Code {
    Text file_name;
    Text name;
    Text line_table;
    int32_t first_line = 0;
  };

  bool ReadCode(uintptr_t code, Code* read) const;
  bool ReadStr(uintptr_t object, uint32_t most_characters, Text* text) const;
  bool ReadBytes(uintptr_t object, Text* text) const;
  uint32_t FindContent(const Code& code);
  bool HasContent(uint32_t number, const Code& code) const;
  uint32_t Write(const Code& code);
  // A code object as it was when it got its number.
  struct Known {
    uintptr_t code;
    uintptr_t file_name;
    uintptr_t name;
    uintptr_t line_table;
    int32_t first_line;
    uint32_t number;

    friend bool operator==(const Known& a, const Known& b) {
      return a.code == b.code && a.file_name == b.file_name &&
             a.name == b.name && a.line_table == b.line_table &&
             a.first_line == b.first_line;
    }
  };
  static constexpr uint32_t kKnownCount = 8192;

  InterpreterLayout layout_ = {};
  PythonTypes types_;
  GrowingFile file_;
  GrowingArray code_array_;
  GrowingArray text_array_;
  PythonRecord* record_ = nullptr;
  uint32_t text_bytes_ = 0;
  NumberIndex content_index_;
  // The code objects by the address's hash; the newest one stays.
  Known* known_ = nullptr;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_CODES_H_
