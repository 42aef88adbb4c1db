// Names that the machine has by its own system: kernel and processor.
//
//   KernelName();      // "Linux 6.1.0-13-amd64 x86_64"
//   ProcessorModel();  // "Intel(R) Xeon(R) Processor @ 2.60GHz"
//
// Figures that vary are true for one machine; these names tell it from others.
// Thread-safe; a name that the system does not tell is empty. Plain values.
// Memory: the names.

#ifndef FOOTPRINT_BASE_MACHINE_MACHINE_NAMES_H_
#define FOOTPRINT_BASE_MACHINE_MACHINE_NAMES_H_

#include <string>

namespace footprint {

// System, release and architecture.
std::string KernelName();

// Returns the model of the first processor.
std::string ProcessorModel();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_MACHINE_NAMES_H_
