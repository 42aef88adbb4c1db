// Each outermost import of a Python module is a stage.
//
//   WatchImports();              // before main, in any program
//   ModuleMayBeRead(path);       // of each file that is opened
//
// For CPython 3.8 and newer, whose functions are found by name, so that nothing
// is linked and another program is left alone. An audit hook is added when the
// interpreter opens the first module: by then it has chosen its allocators,
// with one of which it will free the hook. The hook sees the next import; then
// importlib's _find_and_load, through which every import goes that is not done
// yet, and which the interpreter looks up by name each time, is replaced by a
// built-in function of the same name around it. Imports of modules that are
// loaded already never come there. Nothing else is changed: the import
// statement, importlib.import_module, sys.modules and tracebacks are as they
// were.
//
// Imports are no stages in an interpreter that lies in a shared library that is
// loaded later, or that is told where its modules are.
//
// The hook and the function are owned by the interpreter, and live as long. Not
// thread-safe until the first module is read, which an interpreter does before
// it has threads. Memory: none but the interpreter's for one function. Time:
// per import of a module that is not loaded yet, two calls, and the stage of
// the outermost one.

#ifndef FOOTPRINT_PROFILING_STAGES_IMPORT_STAGES_H_
#define FOOTPRINT_PROFILING_STAGES_IMPORT_STAGES_H_

namespace footprint::profiling_internal {

// Nothing if the program is no Python interpreter.
void WatchImports();

void ModuleMayBeRead(const char* path);

}  // namespace footprint::profiling_internal

// Tested by stages_test.

#endif  // FOOTPRINT_PROFILING_STAGES_IMPORT_STAGES_H_
