// Names of the kernel and of the processor, as the system reports them.
//
//   KernelName();      // "Linux 6.1.0-13-amd64 x86_64"
//   ProcessorModel();  // "Intel(R) Xeon(R) Processor @ 2.60GHz"
//
// A report that has these names says on which machine its figures were
// measured. Thread-safe. An unknown name is empty. Memory: the names.

#ifndef FOOTPRINT_BASE_MACHINE_MACHINE_NAMES_H_
#define FOOTPRINT_BASE_MACHINE_MACHINE_NAMES_H_

#include <string>

namespace footprint {

// Returns the system, the release and the architecture.
std::string KernelName();

// Returns the model of the first processor, as /proc/cpuinfo names it.
std::string ProcessorModel();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_MACHINE_NAMES_H_
