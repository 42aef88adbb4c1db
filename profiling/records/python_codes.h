// The Python functions that a process's call trees name, as values. Reads the
// file that its agent wrote (python_record.h).
//
//   absl::StatusOr<PythonCodes> python = ReadPythonCodes(path);
//   const PythonCodes::Code& code =
//       python->codes[static_cast<size_t>(node.python_code)];
//   int line = FindPythonLine(code.line_table, code.first_line,
//                             node.python_instruction);
//
// A call tree may name codes that found no room here, so check that the index
// is below codes.size(). The process may still run and write. Plain values: the
// file is closed again. Thread-safe. Memory: in proportion to the file's
// entries. Errors: those of RecordFileReader.

#ifndef FOOTPRINT_PROFILING_RECORDS_PYTHON_CODES_H_
#define FOOTPRINT_PROFILING_RECORDS_PYTHON_CODES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

struct PythonCodes {
  // A function, class body or module, as it was compiled.
  struct Code {
    std::string file;  // UTF-8, as the interpreter has it.
    std::string name;  // Qualified: "Model.fit.<locals>.<lambda>"; UTF-8.
    std::string line_table;
    int first_line = 0;
  };

  std::string interpreter;  // "CPython 3.11.2"
  // Whether calls of Python code were recorded. They are not if the
  // interpreter's version is unknown.
  bool has_calls = false;
  // Whether Python's objects are counted one by one, with malloc's blocks. If
  // not, because the user chose an allocator, its arenas count as mapped
  // memory.
  bool objects_are_counted = false;
  // True if some functions found no room.
  bool is_incomplete = false;
  // The begin_address of the module that holds the interpreter, a program or
  // library.
  uint64_t module_begin_address = 0;
  std::vector<Code> codes;
};

absl::StatusOr<PythonCodes> ReadPythonCodes(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_PYTHON_CODES_H_
