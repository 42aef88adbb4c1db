// Reads the mounts that a process sees, and tells which file systems keep their
// files on a device from which the kernel can read dropped pages again.
//
//   const footprint::RereadableDevices devices(footprint::ReadMounts());
//   devices.Has("00:19");  // false for a tmpfs
//
// Own their data. Thread-compatible. Memory: some 100 bytes a mount. Source:
// proc(5), /proc/PID/mountinfo.

#ifndef FOOTPRINT_PROFILING_RESIDENT_MOUNTS_H_
#define FOOTPRINT_PROFILING_RESIDENT_MOUNTS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

struct Mount {
  std::string path;
  std::string device;  // as in /proc/PID/maps: "00:19"
  std::string type;    // "ext4", "tmpfs"
};

// Returns the mounts of this process, or none if /proc cannot be read.
std::vector<Mount> ReadMounts();

// Returns a device's name as in /proc/PID/maps.
std::string DeviceName(unsigned int major_number, unsigned int minor_number);

// Parses a text like /proc/PID/mountinfo, and leaves out lines that are no
// mount. A file system may be mounted several times, and a mount may be hidden
// by another.
std::vector<Mount> ParseMounts(absl::string_view text);

// The devices whose files the kernel can drop from memory and read again.
class RereadableDevices {
 public:
  explicit RereadableDevices(const std::vector<Mount>& mounts);

  // Returns false for a file system in memory, and for one without a block
  // device that is in none of the mounts, whose kind is unknown.
  bool Has(absl::string_view device) const;

 private:
  // Devices of network and layered file systems, which have no block device.
  std::set<std::string> virtual_devices_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_MOUNTS_H_
