#include "footprint/base/files/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "footprint/base/files/file_error.h"

namespace footprint {

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return FileError(errno, "pipe", "cannot be made");
  }
  Pipe pipe;
  pipe.read_end = FileDescriptor(ends[0]);
  pipe.write_end = FileDescriptor(ends[1]);
  for (FileDescriptor* end : {&pipe.read_end, &pipe.write_end}) {
    if (end->get() > STDERR_FILENO) continue;
    FileDescriptor moved(fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (moved.get() < 0) return FileError(errno, "pipe", "cannot be made");
    *end = std::move(moved);
  }
  return pipe;
}

}  // namespace footprint
