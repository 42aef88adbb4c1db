// Removes names that the agent exports for some programs only.
//
//   if (next == nullptr) WithdrawExport("_Znwm");
//
// A name that the agent exports hides the same name of every object that is
// loaded later. An extension of a C program that brings its own C++ library
// would call the agent's operator new, which may find no next one. So an
// unneeded name is removed from the table in which the loader looks names up:
// in the agent's image in memory, never in another object's. Objects that were
// bound to the name before stay bound.
//
// WithdrawExport removes the name from the table. Call it while the process has
// one thread, before it loads objects. It allocates nothing. It returns whether
// the table is without the name; false if the kernel does not allow writing to
// the page.

#ifndef FOOTPRINT_PROFILING_MALLOC_OWN_EXPORTS_H_
#define FOOTPRINT_PROFILING_MALLOC_OWN_EXPORTS_H_

namespace footprint::profiling_internal {

bool WithdrawExport(const char* name);

// Returns the definition of the name in the first object that the loader
// searches after the program and before this one; null if none has it.
const void* FindInFront(const char* name);

// Returns whether `function` lies in the object that contains this code.
bool IsOfThisObject(const void* function);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_MALLOC_OWN_EXPORTS_H_
