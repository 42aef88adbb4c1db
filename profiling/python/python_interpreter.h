// The Python interpreter of this process, if there is one: its objects are
// counted, and its calls stand in the stacks that are recorded.
//
//   FindPythonInterpreter();                              // once, before main
//   if (HasPythonInterpreter()) {
//     BeginPythonRecord(folder, "1234.0.python", true);   // once a process
//   }
//
// An interpreter counts if it is the program or one of the libraries that it is
// linked with; one that is loaded later (dlopen) is not seen. The agent needs
// none of Python's headers: functions are found by name, members by
// interpreter_layout.h. For a version that is not there, native calls alone are
// recorded, and the record says so.
//
// Lives inside malloc. State is the process's and is never freed; the folder's
// descriptor stays the caller's. Memory: that of python_codes.h, 320 KiB and
// the file. Thread-safe but for the two functions above.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_INTERPRETER_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_INTERPRETER_H_

namespace footprint::profiling_internal {

void FindPythonInterpreter();
bool HasPythonInterpreter();

// Opens the record (python_record.h) in the folder of that descriptor; again in
// the child of a fork. False: it cannot be had, and no call of Python code is
// recorded. `with_calls`: stacks are recorded at all.
bool BeginPythonRecord(int folder, const char* file_name, bool with_calls);

}  // namespace footprint::profiling_internal

// Tested by measured_python_test, too.

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_INTERPRETER_H_
