// Finds the Python interpreter of this process, if there is one. Its objects
// are counted, and its calls are in the recorded stacks.
//
//   FindPythonInterpreter();                              // once, before main
//   if (HasPythonInterpreter()) {
//     BeginPythonRecord(folder, "1234.0.python", true);   // once a process
//   }
//
// An interpreter is found if it is the program or a library that the program is
// linked with; one that is loaded later (dlopen) is not. The agent needs no
// header of Python: it finds functions by name, and members by
// interpreter_layout.h. For an unknown version, only native calls are recorded,
// and the record says so.
//
// Works inside malloc. The process owns the state, which is never freed; the
// caller owns the folder's descriptor. Memory: that of one PythonCodeWriter
// (python_codes.h), which is the file, an index and 320 KiB.
// FindPythonInterpreter and BeginPythonRecord are not thread-safe; the
// recording of calls is.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_INTERPRETER_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_INTERPRETER_H_

namespace footprint::profiling_internal {

void FindPythonInterpreter();
// Returns whether FindPythonInterpreter has found one.
bool HasPythonInterpreter();

// Creates the record (python_record.h) in the folder with this descriptor; call
// it again in the child of a fork. Returns false if that fails; then no call of
// Python code is recorded. `with_calls` says whether stacks are recorded at
// all.
bool BeginPythonRecord(int folder, const char* file_name, bool with_calls);

}  // namespace footprint::profiling_internal

// Tested by measured_python_test, too.

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_INTERPRETER_H_
