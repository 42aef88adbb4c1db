// Measures the peak rates of one core of this machine in the same run as the
// kernels, as a baseline for them.
//
//   footprint::MeasureMultiplyAddFlops();   // 1.1e11
//
// The two functions that measure a rate use the processor time of the calling
// thread, so that other programs matter little, and take the best of several
// trials. Thread-safe, but threads that measure at once share the machine's
// memory, and each measures less. Keeps nothing of `numbers`; allocates
// nothing. Testonly.

#ifndef FOOTPRINT_LOWMEM_KERNELS_MACHINE_PEAK_H_
#define FOOTPRINT_LOWMEM_KERNELS_MACHINE_PEAK_H_

#include <cstdint>

#include "absl/types/span.h"

namespace footprint {

// Returns the processor time of this thread in seconds.
double ThreadSeconds();

// Returns the floating-point operations per second of independent multiply-adds
// in registers, with the vector instructions of the kernels. Takes about 50 ms.
double MeasureMultiplyAddFlops();

// Returns the bytes per second at which `numbers` are added up. They should be
// far larger than the caches.
double MeasureReadBandwidth(absl::Span<const float> numbers);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_MACHINE_PEAK_H_
