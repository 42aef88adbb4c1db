// A file with a name in a folder, for readers that refuse a file without links,
// such as that of MemoryFile.
//
//   const footprint::NamedFile file(bytes);
//   SafetensorsFile::Open(file.path());
//
// It is in memory if /dev/shm can be written to, and otherwise in the test's
// folder (TEST_TMPDIR, or /tmp if that is not set). Owns the file, which is
// deleted with the object. Not thread-safe.
// Memory: the bytes written, outside the process's own memory. Ends the process
// if the system refuses, since nothing can then be tested.

#ifndef FOOTPRINT_BASE_TESTING_NAMED_FILE_H_
#define FOOTPRINT_BASE_TESTING_NAMED_FILE_H_

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/files/read_write.h"

namespace footprint {

class NamedFile {
 public:
  explicit NamedFile(absl::string_view bytes) {
    const char* const test_folder = std::getenv("TEST_TMPDIR");
    for (const char* const folder :
         {"/dev/shm", test_folder == nullptr ? "/tmp" : test_folder}) {
      path_ = std::string(folder) + "/named_file.XXXXXX";
      const int descriptor = mkstemp(&path_[0]);
      if (descriptor < 0) continue;
      const bool is_written = WriteAt(descriptor, 0, bytes.data(),
                                      static_cast<int64_t>(bytes.size()));
      close(descriptor);
      if (is_written) return;
      unlink(path_.c_str());
    }
    std::perror("a file with a name");
    std::abort();
  }
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;
  ~NamedFile() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TESTING_NAMED_FILE_H_
