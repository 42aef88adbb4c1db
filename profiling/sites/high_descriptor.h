// Moves a descriptor of the agent's out of the way of the program, because some
// programs rely on the numbers of their files.
//
//   const int file = MoveUp(openat(folder, name, O_RDWR | O_CLOEXEC));
//
// Works inside malloc and inside signal handlers: it only makes system calls.
// Thread-safe. The descriptor stays the caller's to close.

#ifndef FOOTPRINT_PROFILING_SITES_HIGH_DESCRIPTOR_H_
#define FOOTPRINT_PROFILING_SITES_HIGH_DESCRIPTOR_H_

namespace footprint::profiling_internal {

// Returns a descriptor of the same file, closed at exec, whose number is 1000
// or above. If the limit of descriptors (RLIMIT_NOFILE) is lower, it is the
// highest number that is free. Closes `descriptor` unless no higher number is
// free, when it returns `descriptor` itself; a negative one is returned, too.
int MoveUp(int descriptor);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_HIGH_DESCRIPTOR_H_
