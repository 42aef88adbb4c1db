// Measures how fast the disk reads a model's file past the page cache.
//
//   absl::StatusOr<int64_t> bytes_per_s = footprint::MeasureDiskRate(*store);
//
// Four threads read pieces of the file, for a fifth of a second. On the disks
// that were tried, more threads did not read faster, and fewer read more
// slowly. The rate is that of the best of several short intervals, so it is one
// that the disk has reached, and a run that reads faster is a sign that the
// disk has become faster since. It is not meant for files in memory (tmpfs), or
// for network file systems whose server has a cache.
//
// Thread-safe. The store must outlive the call. Memory: 1 MiB, given back.
// Time: 0.2 s.
//
// The error is FailedPrecondition if the store does not read past the page
// cache, because it has another backend or the file system does not allow it;
// Unavailable if the system starts no more threads, or the file has become
// empty; and ResourceExhausted if there is no memory for the buffers. If the
// file cannot be read, the error is FileError's.

#ifndef FOOTPRINT_LOWMEM_STREAMING_DISK_RATE_H_
#define FOOTPRINT_LOWMEM_STREAMING_DISK_RATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// Returns bytes per second.
absl::StatusOr<int64_t> MeasureDiskRate(const WeightStore& store);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_DISK_RATE_H_
