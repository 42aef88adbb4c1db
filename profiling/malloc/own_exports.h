// Names that the agent exports for some programs only.
//
//   if (next == nullptr) WithdrawExport("_Znwm");
//
// A name that the agent exports hides the same name of every object that is
// loaded later. An extension of a C program that brings its own C++ library
// would call the agent's operator new, which could find no next one. So a name
// that is not needed is removed from the table in which the loader looks names
// up: in the agent's image in memory, never in another object's. Objects that
// were bound to the name before stay bound.
//
// Removes the name from the table. Call it while the process has one thread,
// before it loads objects. Allocates nothing. Returns whether the table is
// without the name; false if the kernel does not let the page be written to.

#ifndef FOOTPRINT_PROFILING_MALLOC_OWN_EXPORTS_H_
#define FOOTPRINT_PROFILING_MALLOC_OWN_EXPORTS_H_

namespace footprint::profiling_internal {

bool WithdrawExport(const char* name);

// Returns the definition of the name in the first object that the loader looks
// into after the program and before this one; null if none of them has it.
const void* FindInFront(const char* name);

// Returns whether `function` lies in the object that this code is part of.
bool IsOfThisObject(const void* function);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_MALLOC_OWN_EXPORTS_H_
