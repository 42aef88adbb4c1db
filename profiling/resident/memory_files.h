// Files in memory (tmpfs) that a run writes, seen from outside: pages that no
// process need have mapped, and that a memory limit counts all the same.
//
//   MemoryFiles files("/tmp/memprof-1");  // before the run
//   while (runs) files.Look();
//   files.UnmappedBytes(mapped_bytes_by_device);
//
// Bytes are what each tmpfs that is mounted here has in use beyond its use at
// the beginning, without the agent's folder. Other programs may write there,
// too: then the bytes are too many. Not seen: a tmpfs that is mounted during
// the run or in another mount namespace, and memory files without a path
// (memfd_create) that nobody has mapped.
//
// Owns what it has seen. Thread-compatible. Memory: some 100 bytes a mount.
// Time of a look: some 2 us a mount. Source: proc(5), /proc/PID/mountinfo.

#ifndef FOOTPRINT_PROFILING_RESIDENT_MEMORY_FILES_H_
#define FOOTPRINT_PROFILING_RESIDENT_MEMORY_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

// A mounted tmpfs.
struct MemoryMount {
  std::string path;
  std::string device;  // as in /proc/PID/maps: "00:19"
};

// Finds the mounts in a text like /proc/PID/mountinfo; one file system may be
// mounted often, and a mount may lie under another.
std::vector<MemoryMount> FindMemoryMounts(absl::string_view mounts);

class MemoryFiles {
 public:
  // Files of `agent_folder` do not count.
  explicit MemoryFiles(std::string agent_folder);

  void Look();

  // Returns by how much the files of all mounts had grown at the last look.
  int64_t grown_bytes() const;
  // The same without what processes have mapped there, as they count it
  // themselves.
  int64_t UnmappedBytes(
      const std::map<std::string, int64_t>& mapped_bytes_by_device) const;

 private:
  struct Use {
    MemoryMount mount;
    int64_t begin_bytes = 0;
    int64_t grown_bytes = 0;
  };
  int64_t UsedBytes(const MemoryMount& mount) const;

  const std::string agent_folder_;
  std::string agent_device_;
  std::vector<Use> uses_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_MEMORY_FILES_H_
