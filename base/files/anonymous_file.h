// Finds the unnamed file that this process has open, for tests that damage it.
//
//   pwrite(footprint::AnonymousFile(), "x", 1, 0);
//
// Linux only, since it reads /proc.
//
// The caller must not close the descriptor. Not safe against threads that open
// or close files. Memory: a path of 4 KiB during the call.

#ifndef FOOTPRINT_BASE_FILES_ANONYMOUS_FILE_H_
#define FOOTPRINT_BASE_FILES_ANONYMOUS_FILE_H_

#include <unistd.h>

#include <string>

namespace footprint {

// Returns the highest descriptor from 3 to 255 of a file without a name, whose
// link in /proc says "(deleted)", or -1 if there is none.
inline int AnonymousFile() {
  for (int descriptor = 255; descriptor > 2; --descriptor) {
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    std::string path(4096, '\0');
    const ssize_t size = readlink(link.c_str(), &path[0], path.size());
    path.resize(size < 0 ? 0 : static_cast<size_t>(size));
    if (path.find("(deleted)") != std::string::npos) return descriptor;
  }
  return -1;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_ANONYMOUS_FILE_H_
