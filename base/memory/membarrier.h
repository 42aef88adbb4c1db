// Linux's membarrier: a memory fence on every processor that runs a thread of
// this process. Only the caller pays the cost.
//
//   static const bool can_fence = RegisterMembarrier();  // once a process
//   ...
//   if (can_fence) Membarrier();
//
// Each other thread executes a full fence at some moment during the call: the
// caller sees its earlier stores after the call, and it later sees all that the
// caller stored before the call.
//
// Header-only and without allocation, so that code behind malloc may use it.
// Thread-safe. Memory: none. Time: 0.5 to 10 us per call.

#ifndef FOOTPRINT_BASE_MEMORY_MEMBARRIER_H_
#define FOOTPRINT_BASE_MEMORY_MEMBARRIER_H_

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace footprint {

// Registers the process. Returns false if the kernel or a sandbox refuses.
inline bool RegisterMembarrier() {
#ifdef __linux__
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                 0) == 0;
#else
  return false;
#endif
}

// Returns whether the fence was run. Call RegisterMembarrier first.
inline bool Membarrier() {
#ifdef __linux__
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
  return false;
#endif
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_MEMBARRIER_H_
