// Samples the calls of memcpy and its family, and adds up the bytes that each
// caller copies.
//
//   BeginCopyVolume(folder, "1234.0.copies", /*interval_bytes=*/4194304);
//   ...
//   if ((bytes_left -= size) < 0) {     // in the thread's own storage
//     bytes_left = SampleCopy(size, __builtin_return_address(0));
//   }
//
// A copy is a sample if a point of a Poisson process along the thread's copied
// bytes, one in `interval_bytes`, lies in it: so one of size s is with
// probability p = 1 - exp(-s / interval), counts for s / p bytes, and adds
// (s / p)^2 (1 - p) to the variance. With an interval of 0 each is.
//
// SampleCopy is thread-safe and works in signal handlers, as memcpy does: no
// allocation, no lock. `folder` is read by the call alone; the file that it
// makes there outlives the process. The estimator is Horvitz and Thompson's
// (1952).

#ifndef FOOTPRINT_PROFILING_SAMPLES_COPY_VOLUME_H_
#define FOOTPRINT_PROFILING_SAMPLES_COPY_VOLUME_H_

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

// Begins to count copies; called once in a process, and again in the child of a
// fork. False: the file cannot be had.
bool BeginCopyVolume(int folder, const char* file_name, int64_t interval_bytes);

// A copy in which a sample's point lies. `caller`: where it returns to; calls
// inside of that are left out of its stack. Returns how many bytes the thread
// may copy before the next sample.
int64_t SampleCopy(size_t size_bytes, const void* caller);

// The same without a sample: for a thread's first copy.
int64_t NextCopyDistance();

// Called after an object was unloaded.
void ForgetCodeOfCopyVolume();

}  // namespace footprint::profiling_internal

// Tested by //profiling/memprof:sampling_test.

#endif  // FOOTPRINT_PROFILING_SAMPLES_COPY_VOLUME_H_
