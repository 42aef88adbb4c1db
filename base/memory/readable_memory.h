// Copies memory that this process may not be able to read.
//
//   if (!CopyIfReadable(frame, bytes, sizeof(bytes))) return;
//
// Asks the kernel, so an address that is not mapped is no signal. Allocates
// nothing; thread-safe; works inside malloc and in signal handlers. Time: 0.5
// us.

#ifndef FOOTPRINT_BASE_MEMORY_READABLE_MEMORY_H_
#define FOOTPRINT_BASE_MEMORY_READABLE_MEMORY_H_

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace footprint {

// Returns false if some of it cannot be read, or if the kernel refuses to
// answer.
inline bool CopyIfReadable(uintptr_t address, void* bytes, size_t size_bytes) {
  const iovec from = {reinterpret_cast<void*>(address), size_bytes};
  const iovec to = {bytes, size_bytes};
  return syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0L) ==
         static_cast<long>(size_bytes);
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_READABLE_MEMORY_H_
