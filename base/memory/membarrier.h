// Linux's membarrier: a memory fence on every processor that runs a thread of
// this process, at the caller's cost alone.
//
//   static const bool can_fence = RegisterMembarrier();  // once a process
//   ...
//   if (can_fence) Membarrier();
//
// A thread that runs meanwhile either did what it was doing, stores included,
// before the call, or will see what was stored before it.
//
// Header-only and without allocation, so that the code behind malloc may use
// it. Thread-safe. Memory: none. Time: 0.5 to 10 us a call.

#ifndef FOOTPRINT_BASE_MEMORY_MEMBARRIER_H_
#define FOOTPRINT_BASE_MEMORY_MEMBARRIER_H_

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace footprint {

// Returns false where the kernel, or a sandbox, refuses.
inline bool RegisterMembarrier() {
#ifdef __linux__
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                 0) == 0;
#else
  return false;
#endif
}

// Returns whether the fence was run. Needs RegisterMembarrier before.
inline bool Membarrier() {
#ifdef __linux__
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
  return false;
#endif
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_MEMBARRIER_H_
