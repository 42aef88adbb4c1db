// Makes Python's small objects come from malloc, where they are counted one by
// one: by itself Python takes them from arenas that it maps, of which malloc
// never hears.
//
//   CountPythonObjects(version, runtime, [] { NoteThatTheyCount(); });
//
// Uses PyMem_SetAllocator for the domains of memory and objects, before the
// interpreter begins. Where the program's user chose an allocator (PYTHONMALLOC
// or -X dev), that one stays. Decision 26 has what it means and costs.
//
// To be called once, before main, so before the program starts threads. Memory:
// a few words, never freed; an object costs what malloc gives it. Python owns
// its objects as before, and frees them one by one. Finds the interpreter's
// functions by name; no header of Python's is needed.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Calls `on_first_object` in the thread that makes the first object that
// counts: never where the version is not known, objects cannot come from malloc
// (3.13t) or the user chose.
void CountPythonObjects(uint32_t version, const void* runtime,
                        void (*on_first_object)());

}  // namespace footprint::profiling_internal

// Tested by measured_python_test.

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_
