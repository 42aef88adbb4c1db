// Watches the graphics memory and time of a run's processes if NVIDIA's
// management library is on the machine. The library is loaded on request, so
// neither building nor starting needs it.
//
//   absl::StatusOr<GraphicsWatch> watch = GraphicsWatch::Open();
//   if (!watch.ok()) Say(watch.status().message());  // no such device here
//   while (runs) watch->Look(process_ids);           // every 100 ms
//   for (const GraphicsUse& use : watch->uses()) Show(use);
//
// Memory is what the driver reports for each process, sampled, so a peak
// between two samples is missed. Inside a container the driver may use the
// processes' IDs from outside; then `unmatched_process_count` counts the
// processes that match none of the run's. Under MIG and on some systems the
// driver reports no bytes, or 0. Then, if one of the run's processes has a
// device open, the rise of the whole device's use since Open, if it is at least
// 1 MiB, is reported for process 0. That is exact if no other program uses the
// device.
//
// Movable; thread-compatible. Memory: some KiB. Time of a sample: about a
// millisecond a device. Errors of Open: kNotFound without library or device,
// kUnavailable if the library is too old or the driver does not answer.
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
  int process_id = 0;  // 0 for all processes, beyond what was in use before.
  int device = 0;
  std::string device_name;
  std::optional<int64_t> peak_bytes;
  // Time in which the device's processors worked for the process, by the
  // driver's samples.
  int64_t busy_ns = 0;
};

class GraphicsWatch {
 public:
  // Opens the devices. Call it before the first process starts, because what is
  // in use then does not count for the run. `device_files` is the beginning of
  // the devices' paths, before a digit.
  static absl::StatusOr<GraphicsWatch> Open(
      const std::string& library = "libnvidia-ml.so.1",
      const std::string& device_files = "/dev/nvidia");
  GraphicsWatch(GraphicsWatch&&) noexcept;
  GraphicsWatch& operator=(GraphicsWatch&&) noexcept;
  ~GraphicsWatch();

  // Takes a sample for these processes.
  void Look(const std::set<int>& process_ids);

  // Returns the uses in order of processes, then devices; those of process 0
  // come last.
  std::vector<GraphicsUse> uses() const;
  // Returns the highest number of processes on the devices at one sample that
  // were not in Look's set. A process counts once for each device it uses.
  int unmatched_process_count() const { return unmatched_process_count_; }

 private:
  class Library;
  // Bytes that all processes use on a device.
  struct DeviceUse {
    int64_t before_bytes = 0;
    int64_t peak_bytes = 0;
  };

  GraphicsWatch(std::unique_ptr<Library> library, std::string device_files);

  void LookAtDevice(int device);
  // Returns the use of a device as a whole, if no process has bytes of its own.
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
