// Reserves space of a file on the disk, even if signals arrive meanwhile.
//
//   const int error = ReserveFileSpace(file, /*offset_bytes=*/0, 8192);
//   if (error != 0) unlink(path);
//
// Works inside malloc and in signal handlers: it only makes system calls.
// Thread-safe.

#ifndef FOOTPRINT_PROFILING_SITES_FILE_SPACE_H_
#define FOOTPRINT_PROFILING_SITES_FILE_SPACE_H_

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>

namespace footprint::profiling_internal {

// Returns 0, or the number of the error. On some file systems, as on
// Linux 6.1's tmpfs, a signal interrupts the reservation; then it begins again.
inline int ReserveFileSpace(int file, size_t offset_bytes, size_t size_bytes) {
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(file, static_cast<off_t>(offset_bytes),
                            static_cast<off_t>(size_bytes));
  }
  return error;
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_FILE_SPACE_H_
