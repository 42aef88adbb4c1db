// Counts Python's small objects where they are: in the arenas that the
// interpreter maps for them, of which malloc never hears.
//
//   CountPythonObjects(version, runtime, [] { NoteThatTheyCount(); });
//
// Stands in front of the interpreter's own allocators of memory and objects
// (PyMem_SetAllocator), before it begins, and passes each call on. A block of
// at most 512 bytes lies in an arena and counts by its size class; a larger one
// comes from malloc, whose entry points count it. The arenas themselves are the
// allocator's memory, and no mappings of the program. Where the program's user
// chose an allocator (PYTHONMALLOC or -X dev), that one stays as it is.
// Decision 57 has what it means and costs.
//
// To be called once, before main, so before the program starts threads. Memory:
// 16 MiB of addresses, of which some pages are touched. Python owns its
// objects. Finds the interpreter's functions by name; no header of Python's is
// needed.
//
// Source: Objects/obmalloc.c of CPython 3.10 to 3.14: pools of 16 KiB, whose
// header tells the size class, in arenas of 1 MiB.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Calls `on_first_object` in the thread that makes the first object that
// counts: never where the version is not known, its arenas are others, objects
// have none (3.13t) or the user chose.
void CountPythonObjects(uint32_t version, const void* runtime,
                        void (*on_first_object)());

}  // namespace footprint::profiling_internal

// Tested by measured_python_test.

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_
