// Makes each outermost import of a Python module a stage.
//
//   WatchImports();              // before main, in any program
//   ModuleMayBeRead(path);       // of each file that is opened
//
// Supports CPython 3.8 and newer. It finds CPython's functions by name, so
// nothing is linked and another program is left alone.
//
// When the interpreter opens the first module, an audit hook is added: by then
// it has chosen its allocators, with one of which it will free the hook. At the
// next import, the hook replaces importlib's _find_and_load with a built-in
// function of the same name that calls the original. Every import of a module
// that is not loaded goes through it, and the interpreter looks it up by name
// each time. Imports of loaded modules never reach it. Nothing else changes:
// the import statement, importlib.import_module, sys.modules and tracebacks are
// as before.
//
// Imports are not stages if the interpreter is a shared library that is loaded
// later, or if it opens no module's file before it is initialised. Imports in
// subinterpreters are not stages either.
//
// The interpreter owns the hook and the function, which live as long as it
// does. Not thread-safe until the first module is read, which an interpreter
// does before it has threads. Memory: the interpreter's, for one function.
// Time: two calls for each import of a module that is not loaded, and a stage
// for the outermost one.

#ifndef FOOTPRINT_PROFILING_STAGES_IMPORT_STAGES_H_
#define FOOTPRINT_PROFILING_STAGES_IMPORT_STAGES_H_

namespace footprint::profiling_internal {

// Starts to wait for the first module. Does nothing if the program is not a
// Python interpreter.
void WatchImports();

// Adds the audit hook if `path` is the first module. Call it with each file
// that is opened.
void ModuleMayBeRead(const char* path);

}  // namespace footprint::profiling_internal

// Tested by stages_test.

#endif  // FOOTPRINT_PROFILING_STAGES_IMPORT_STAGES_H_
