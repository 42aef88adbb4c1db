// A pipe, whose two ends are closed when the object is destroyed.
//
//   absl::StatusOr<Pipe> output = MakePipe();
//   if (!output.ok()) return output.status();
//   write(output->write_end.get(), "x", 1);
//   output->write_end = FileDescriptor();  // closes it: the reader sees the
//   end
//
// A program that is started by exec gets neither end. Neither is a standard
// file, even if this process has closed one, so that a child can replace its
// standard files one by one. Movable; thread-compatible. Memory: two
// descriptors, and the kernel's 64 KiB at most.

#ifndef FOOTPRINT_BASE_FILES_PIPE_H_
#define FOOTPRINT_BASE_FILES_PIPE_H_

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Returns a new pipe, or FileError's status if there are too many open files.
absl::StatusOr<Pipe> MakePipe();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_PIPE_H_
