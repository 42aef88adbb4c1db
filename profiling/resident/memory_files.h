// Watches files in memory (tmpfs) that a run writes. Their pages may be mapped
// by no process, but a memory limit counts them.
//
//   MemoryFiles files(ReadMounts(), "/tmp/memprof-1");  // before the run
//   while (runs) files.Look();
//   files.UnmappedBytes(mapped_bytes_by_device);
//
// Bytes are what each mounted tmpfs has in use beyond its use at the beginning,
// without the agent's folder. If other programs write there too, the bytes are
// too many. It does not see a tmpfs that is mounted during the run or in
// another mount namespace, nor memory files without a path (memfd_create) that
// no process maps.
//
// Owns its data. Thread-compatible. Memory: some 100 bytes a mount. Time of a
// sample: some 2 us a mount.

#ifndef FOOTPRINT_PROFILING_RESIDENT_MEMORY_FILES_H_
#define FOOTPRINT_PROFILING_RESIDENT_MEMORY_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "footprint/profiling/resident/mounts.h"

namespace footprint {

class MemoryFiles {
 public:
  // Watches each tmpfs of `mounts`. Leaves out files of `agent_folder`.
  MemoryFiles(const std::vector<Mount>& mounts, std::string agent_folder);

  // Takes a sample.
  void Look();

  // Returns by how much the files of all mounts had grown at the last sample.
  int64_t grown_bytes() const;
  // Returns that growth without the bytes that processes map, which count for
  // the processes.
  int64_t UnmappedBytes(
      const std::map<std::string, int64_t>& mapped_bytes_by_device) const;

 private:
  struct Use {
    Mount mount;
    int64_t begin_bytes = 0;
    int64_t grown_bytes = 0;
  };
  int64_t UsedBytes(const Mount& mount) const;

  const std::string agent_folder_;
  std::string agent_device_;
  std::vector<Use> uses_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_MEMORY_FILES_H_
