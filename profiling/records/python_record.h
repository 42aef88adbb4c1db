// An agent's record of its process's Python interpreter: the version, and of
// each function that call trees name, its name and where its lines are. A file
// "PID.IMAGE.python" beside the others; there is one only where the process is
// an interpreter.
//
//   const uint32_t count = file->code_count.load();
//   for (uint32_t i = 0; i < count; ++i) {
//     const PythonCodeRecord& code = file->codes[i];
//     Use(file->text + code.text_offset, code.file_name_bytes);
//   }
//
// A call of Python code is a node of a call tree whose module is
// kInterpretedModule. Its program counter, less kInterpretedCall, has the
// function's index here in the bits above kInstructionBits; the bits below are
// the instruction that is executed, in code units, plus 1.
//
// The file is sparse, as the other ones are. Plain memory: no pointer, no
// destructor. It lives as long as the writer has the file mapped, and the file
// outlives the process. Written by one process, whose threads take turns by a
// lock, read by others at any time; an entry counts from the moment when the
// count includes it.

#ifndef FOOTPRINT_PROFILING_RECORDS_PYTHON_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_PYTHON_RECORD_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr int kInstructionBits = 24;

// A code object. Its texts stand one after the other: file name, name, table.
struct PythonCodeRecord {
  uint64_t text_offset;
  uint32_t file_name_bytes;
  uint32_t name_bytes;
  uint32_t line_table_bytes;
  int32_t first_line;
  // Bytes a character: 1, 2 or 4.
  uint8_t file_name_kind;
  uint8_t name_kind;
};

enum class PythonFrames : int32_t {
  kRead,      // the calls of Python code are in the call trees
  kUntested,  // the version is not known: native calls alone
};

enum class PythonObjects : int32_t {
  kCounted,   // small objects are counted one by one, where they are
  kAsChosen,  // PYTHONMALLOC chose; what its arenas map is counted as mapped
};

inline constexpr uint32_t kMaxPythonCodes = uint32_t{1} << 18;
inline constexpr uint32_t kMaxPythonTextBytes = uint32_t{1} << 28;
// The longest name of a function: longer names are cut, functions of longer
// tables left out.
inline constexpr uint32_t kMaxPythonNameCharacters = 4096;
inline constexpr uint32_t kMaxPythonLineTableBytes = uint32_t{1} << 22;
// The number of the layout below. A reader refuses another.
inline constexpr uint64_t kPythonMagic = 0x32306e68'74797066;

struct PythonRecord {
  uint64_t magic;
  // The version as Py_Version has it: 0x030b02f0 is 3.11.2.
  uint32_t version;
  PythonFrames frames;
  PythonObjects objects;
  // The address of the object that holds the interpreter, as ModuleRecord has
  // it.
  uint64_t module_begin_address;
  std::atomic<uint32_t> code_count;
  // An array or the disk was full, so some functions have no name.
  std::atomic<uint32_t> is_full;
  alignas(4096) PythonCodeRecord codes[kMaxPythonCodes];
  alignas(4096) char text[kMaxPythonTextBytes];
};

}  // namespace footprint::profiling_internal

// Tested by python_codes_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_PYTHON_RECORD_H_
