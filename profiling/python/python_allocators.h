// Counts Python's small objects in the arenas that the interpreter maps for
// them, which malloc never sees.
//
//   CountPythonObjects(version, runtime, [] { NoteThatTheyCount(); });
//
// It replaces the interpreter's own allocators of memory and objects
// (PyMem_SetAllocator) before the interpreter starts, and passes each call on
// to them. A block of at most 512 bytes lies in an arena and counts by its size
// class; a larger one comes from malloc, whose entry points count it. The
// arenas themselves are the allocator's memory, and do not count as the
// program's mappings. If the program's user chose an allocator (PYTHONMALLOC or
// -X dev), that one stays. Decision 57 explains the meaning and the cost.
//
// Call it once, before main, so before the program starts threads. Memory: 16
// MiB of addresses, of which some pages are touched. Python owns its objects.
// It finds the interpreter's functions by name and needs no header of Python.
//
// Source: Objects/obmalloc.c of CPython 3.10 to 3.14: pools of 16 KiB, whose
// header tells the size class, in arenas of 1 MiB.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Calls `on_first_object` in the thread that makes the first counted object. It
// is never called if the version is unknown, its arenas differ, objects have
// none (3.13t), the user chose an allocator, or the interpreter's functions or
// the memory are missing.
void CountPythonObjects(uint32_t version, const void* runtime,
                        void (*on_first_object)());

}  // namespace footprint::profiling_internal

// Tested by measured_python_test.

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_ALLOCATORS_H_
