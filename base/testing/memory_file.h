// A file in memory that has a path, for tests of readers that take a path: a
// fuzzer makes thousands of files a second, too many for a disk.
//
//   const footprint::MemoryFile file("id,lower\n");
//   ReadWholeFile(file.path());
//   file.Write(4096, "behind a hole");
//
// Owns the file, which is deleted with the object. Not thread-safe. Memory: the
// bytes written, outside the process's own memory. Ends the process if the
// system refuses, since nothing can then be tested. Linux only.

#ifndef FOOTPRINT_BASE_TESTING_MEMORY_FILE_H_
#define FOOTPRINT_BASE_TESTING_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/files/read_write.h"

namespace footprint {

class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes)
      : descriptor_(memfd_create("memory_file", MFD_CLOEXEC)),
        path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    CheckThat(descriptor_ >= 0);
    Write(0, bytes);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  int descriptor() const { return descriptor_; }
  // Returns a path that names this file in this process. The program may
  // execute it.
  const std::string& path() const { return path_; }

  void Write(int64_t offset_bytes, absl::string_view bytes) const {
    CheckThat(WriteAt(descriptor_, offset_bytes, bytes.data(),
                      static_cast<int64_t>(bytes.size())));
  }

  // Resizes the file. Added bytes are zeros and take no memory.
  void Resize(int64_t size_bytes) const {
    CheckThat(ftruncate(descriptor_, size_bytes) == 0);
  }

 private:
  static void CheckThat(bool succeeded) {
    if (succeeded) return;
    std::perror("a file in memory");
    std::abort();
  }

  const int descriptor_;
  const std::string path_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TESTING_MEMORY_FILE_H_
