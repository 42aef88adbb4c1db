// Samples the calls of memcpy and related functions, and adds up the bytes that
// each caller copies.
//
//   BeginCopyVolume(folder, "1234.0.copies", /*interval_bytes=*/4194304);
//   ...
//   if ((bytes_left -= size) < 0) {     // in the thread's own storage
//     bytes_left = SampleCopy(size, __builtin_return_address(0));
//   }
//
// A copy is a sample if it contains a point of a Poisson process along the
// thread's copied bytes, with one point in `interval_bytes` on average. So a
// copy of size s is a sample with probability p = 1 - exp(-s / interval),
// counts for s / p bytes, and adds (s / p)^2 (1 - p) to the variance. With an
// interval of 0, every copy is a sample.
//
// SampleCopy is thread-safe and works in signal handlers, as memcpy does: it
// allocates nothing and takes no lock. `folder` is the descriptor of an open
// folder and is used only during the call; the file that BeginCopyVolume
// creates there outlives the process. The estimator is Horvitz and Thompson's
// (1952).

#ifndef FOOTPRINT_PROFILING_SAMPLES_COPY_VOLUME_H_
#define FOOTPRINT_PROFILING_SAMPLES_COPY_VOLUME_H_

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

// Starts to count copies. Call it once in a process, and again in the child of
// a fork. Returns false if the file cannot be created; with a folder of -1,
// counting ends so.
bool BeginCopyVolume(int folder, const char* file_name, int64_t interval_bytes);

// Records a copy that contains a sample's point. `caller` is the return address
// of the copying function; the recorded stack begins there, without the calls
// inside that function. If the stack lacks that address, all of it is recorded.
// Returns how many bytes the thread may copy before the next sample. Keeps
// errno.
int64_t SampleCopy(size_t size_bytes, const void* caller);

// Returns the same distance without a sample, for a thread's first copy.
int64_t NextCopyDistance();

// Forgets which code lies at which address. Call it after an object was
// unloaded.
void ForgetCodeOfCopyVolume();

}  // namespace footprint::profiling_internal

// Tested by //profiling/memprof:sampling_test.

#endif  // FOOTPRINT_PROFILING_SAMPLES_COPY_VOLUME_H_
