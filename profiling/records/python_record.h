// An agent's record of its process's Python interpreter: the version, and for
// each function in call trees its name and line table. It is the file
// "PID.IMAGE.python" in the folder of the process's other records, and exists
// only if the process is an interpreter.
//
//   const uint32_t count = file->code_count.load();
//   for (uint32_t i = 0; i < count; ++i) {
//     const PythonCodeRecord& code = file->codes[i];
//     Use(file->text + code.text_offset, code.file_name_bytes);
//   }
//
// A call of Python code is a node of a call tree whose module is
// kInterpretedModule. Its program counter, without kInterpretedCall, holds the
// function's index here in the bits above kInstructionBits. The bits below hold
// the current instruction, in code units, plus 1.
//
// The file is sparse, as the other records are. Plain memory without pointers
// or a destructor. It lives as long as the writer has the file mapped, and the
// file outlives the process. One process writes it, whose threads take turns by
// a lock; others read it at any time. An entry is valid as soon as the count
// includes it.

#ifndef FOOTPRINT_PROFILING_RECORDS_PYTHON_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_PYTHON_RECORD_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr int kInstructionBits = 24;

// A code object. Its texts follow each other in the order file name, name,
// table.
struct PythonCodeRecord {
  uint64_t text_offset;
  uint32_t file_name_bytes;
  uint32_t name_bytes;
  uint32_t line_table_bytes;
  int32_t first_line;
  // Bytes per character: 1, 2 or 4.
  uint8_t file_name_kind;
  uint8_t name_kind;
};

enum class PythonFrames : int32_t {
  kRead,      // the calls of Python code are in the call trees
  kUntested,  // The version is unknown: only native calls are recorded.
};

enum class PythonObjects : int32_t {
  kCounted,   // Small objects are counted one by one.
  kAsChosen,  // The user chose; arenas count as mapped memory.
};

inline constexpr uint32_t kMaxPythonCodes = uint32_t{1} << 18;
inline constexpr uint32_t kMaxPythonTextBytes = uint32_t{1} << 28;
// The limits of texts. Longer names are cut; functions with longer line tables
// are left out.
inline constexpr uint32_t kMaxPythonNameCharacters = 4096;
inline constexpr uint32_t kMaxPythonLineTableBytes = uint32_t{1} << 22;
// The magic number of this layout. A reader refuses any other.
inline constexpr uint64_t kPythonMagic = 0x32306e68'74797066;

struct PythonRecord {
  uint64_t magic;
  // The version in the form of Py_Version: 0x030b02f0 is 3.11.2.
  uint32_t version;
  PythonFrames frames;
  PythonObjects objects;
  // The begin_address of the module that holds the interpreter, as in
  // ModuleRecord.
  uint64_t module_begin_address;
  std::atomic<uint32_t> code_count;
  // Not zero if an array or the disk was full, so some functions have no name.
  std::atomic<uint32_t> is_full;
  alignas(4096) PythonCodeRecord codes[kMaxPythonCodes];
  alignas(4096) char text[kMaxPythonTextBytes];
};

}  // namespace footprint::profiling_internal

// Tested by python_codes_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_PYTHON_RECORD_H_
