// The peak rates of one core of this machine, measured in the run that is to be
// compared with them: without them a ratio to our own resident speed says
// nothing.
//
//   footprint::MeasureMultiplyAddFlops();   // 1.1e11
//
// Both measure processor time of the calling thread, so that other programs
// matter little, and take the best of several trials. Thread-safe, but threads
// that measure at once share the machine's memory, and each finds less. Keeps
// nothing of `numbers`; allocates nothing. Testonly.

#ifndef FOOTPRINT_LOWMEM_KERNELS_MACHINE_PEAK_H_
#define FOOTPRINT_LOWMEM_KERNELS_MACHINE_PEAK_H_

#include <cstdint>

#include "absl/types/span.h"

namespace footprint {

// Seconds of processor time of this thread.
double ThreadSeconds();

// Floating-point operations per second of independent multiply-adds in
// registers, on the vector instructions that the kernels use. About 50 ms.
double MeasureMultiplyAddFlops();

// Bytes per second of adding up `numbers`, which should be far larger than the
// caches.
double MeasureReadBandwidth(absl::Span<const float> numbers);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_MACHINE_PEAK_H_
