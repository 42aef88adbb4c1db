// Watches the graphics memory and time of a run's processes, where NVIDIA's
// management library is on the machine: it is loaded when asked for, so nothing
// needs it to build or to start.
//
//   absl::StatusOr<GraphicsWatch> watch = GraphicsWatch::Open();
//   if (!watch.ok()) Say(watch.status().message());  // no such device here
//   while (runs) watch->Look(process_ids);           // every 100 ms
//   for (const GraphicsUse& use : watch->uses()) Show(use);
//
// Memory is what the driver gives for each process, sampled: a peak between two
// looks is not seen. Inside a container the driver may name processes by the
// numbers that they have outside, and `unmatched_process_count` says that there
// were others; under MIG and on some systems it tells no bytes, or 0. Then, if
// one of the run's processes has a device open, what is in use on the whole
// device beyond what was at Open stands in its place, as that of process 0:
// exact for whoever has the device alone.
//
// Movable; thread-compatible. Memory: some KiB. Time of a look: about a
// millisecond a device. Errors of Open: kNotFound without library or device,
// kUnavailable where the driver does not answer.
//
// Source: NVIDIA, NVML API Reference Guide (names and layouts of the functions
// used; libnvidia-ml.so.1).

#ifndef FOOTPRINT_PROFILING_RESIDENT_GRAPHICS_MEMORY_H_
#define FOOTPRINT_PROFILING_RESIDENT_GRAPHICS_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

// The memory that one process uses on one device.
struct GraphicsUse {
  int process_id = 0;  // 0: all processes, beyond what was in use before
  int device = 0;
  std::string device_name;
  std::optional<int64_t> peak_bytes;
  // Processors busy for the process, by the driver's own samples.
  int64_t busy_ns = 0;
};

class GraphicsWatch {
 public:
  // Opens the devices, before the first process starts: what is in use then is
  // not the run's. `device_files`: how the paths of devices begin, before a
  // digit.
  static absl::StatusOr<GraphicsWatch> Open(
      const std::string& library = "libnvidia-ml.so.1",
      const std::string& device_files = "/dev/nvidia");
  GraphicsWatch(GraphicsWatch&&) noexcept;
  GraphicsWatch& operator=(GraphicsWatch&&) noexcept;
  ~GraphicsWatch();

  void Look(const std::set<int>& process_ids);

  // Returns the uses in order of processes, then devices; those of process 0
  // come last.
  std::vector<GraphicsUse> uses() const;
  // Returns the processes on the devices that were not asked for; at most so
  // many at once.
  int unmatched_process_count() const { return unmatched_process_count_; }

 private:
  class Library;
  // Bytes in use on a device, by all processes.
  struct DeviceUse {
    int64_t before_bytes = 0;
    int64_t peak_bytes = 0;
  };

  GraphicsWatch(std::unique_ptr<Library> library, std::string device_files);

  void LookAtDevice(int device);
  // The use of a device as a whole, where no process has bytes of its own.
  std::optional<GraphicsUse> WholeUse(int device) const;

  std::unique_ptr<Library> library_;
  std::string device_files_;
  bool device_was_open_ = false;
  std::vector<DeviceUse> device_uses_;
  std::map<std::pair<int, int>, GraphicsUse> uses_;
  int unmatched_process_count_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_GRAPHICS_MEMORY_H_
