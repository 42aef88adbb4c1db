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
// numbers that they have outside: then nothing is found for them, and
// `unmatched_process_count` says that there were others. Under MIG and on some
// systems the driver tells no bytes: `peak_bytes` is absent.
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

// Of one process on one device.
struct GraphicsUse {
  int process_id = 0;
  int device = 0;
  std::string device_name;
  std::optional<int64_t> peak_bytes;
  // Processors busy for the process, by the driver's own samples.
  int64_t busy_ns = 0;
};

class GraphicsWatch {
 public:
  static absl::StatusOr<GraphicsWatch> Open(
      const std::string& library = "libnvidia-ml.so.1");
  GraphicsWatch(GraphicsWatch&&) noexcept;
  GraphicsWatch& operator=(GraphicsWatch&&) noexcept;
  ~GraphicsWatch();

  void Look(const std::set<int>& process_ids);

  // In order of processes, then devices.
  std::vector<GraphicsUse> uses() const;
  // Of processes on the devices, those that were not asked for; at most so many
  // at once.
  int unmatched_process_count() const { return unmatched_process_count_; }

 private:
  class Library;
  explicit GraphicsWatch(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
  std::map<std::pair<int, int>, GraphicsUse> uses_;
  int unmatched_process_count_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_GRAPHICS_MEMORY_H_
