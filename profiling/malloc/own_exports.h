// Names that the agent exports for some programs only.
//
//   if (next == nullptr) WithdrawExport("_Znwm");
//
// A name that an object exports stands in front of the same name of every
// object that is loaded later. An extension of a C program, which brings a C++
// library of its own, would come to the agent's operator new, behind which
// there is no next one to be found. So a name that is not needed is taken out
// of the table in which the loader looks names up: of the agent's image in
// memory, never of another object's. Objects that were bound to the name before
// stay so.
//
// To be called while the process has one thread, before it loads objects.
// Allocates nothing. Returns whether the name is out of the table, or was never
// in it; false where the kernel does not let the page be written to.

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
