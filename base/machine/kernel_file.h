// Reads a whole file of /proc or of a control group, whose size is not known in
// advance.
//
//   absl::StatusOr<std::string> text = ReadKernelFile("/proc/self/maps");
//
// Thread-safe. The returned text is a copy. Memory: the text, and 64 KiB of the
// heap while it reads; less than 1 KiB of the stack. Returns the errors of
// FileError with the path: NotFound for a process that has ended, Unavailable
// if it ends between the opening and the reading of its file.

#ifndef FOOTPRINT_BASE_MACHINE_KERNEL_FILE_H_
#define FOOTPRINT_BASE_MACHINE_KERNEL_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace footprint {

absl::StatusOr<std::string> ReadKernelFile(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_KERNEL_FILE_H_
