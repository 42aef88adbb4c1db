// Watches the resident sets of a run's processes from outside, and keeps what
// they were when they were largest.
//
//   ResidentWatch watch("/tmp/memprof-1");
//   while (runs) watch.Look();  // every 10 ms
//   watch.peak_sum_bytes();
//   for (const ResidentPeak& peak : watch.peaks()) Show(peak.parts);
//
// A peak that comes and goes between two looks is not seen. The parts are read
// when a process's resident set has grown by a fiftieth since they were last
// read, or by a four-hundredth where it stays for a look, so those kept are of
// a moment at most that far below its peak.
//
// Owns what it has seen, and keeps no process: one that ends leaves its peak.
// Thread-compatible. Memory: some hundred bytes a process. Time of a look: 10
// us a process, and where it has grown some milliseconds a GiB.

#ifndef FOOTPRINT_PROFILING_RESIDENT_RESIDENT_WATCH_H_
#define FOOTPRINT_PROFILING_RESIDENT_RESIDENT_WATCH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "footprint/profiling/heap/published_allocator.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {

// Of one process image.
struct ResidentPeak {
  int process_id = 0;
  int image = 0;
  int64_t time_ns = 0;  // CLOCK_MONOTONIC
  ResidentSet parts;
  // The allocator's, of a moment near by.
  profiling_internal::AllocatorBooks books = {};
};

// Bytes that all processes together need of a machine, without the agent: of a
// file that several have mapped, the most that one of them has of it.
struct SharedOnce {
  int64_t anonymous_bytes = 0;
  int64_t file_bytes = 0;
  int64_t swapped_bytes = 0;
  int64_t page_table_bytes = 0;
  int64_t kernel_stack_bytes = 0;
  // At that moment; bytes that processes share count for each of them.
  int64_t resident_sum_bytes = 0;
};

class ResidentWatch {
 public:
  // `record_folder` has the agents' records; its files count as the agent's.
  explicit ResidentWatch(std::string record_folder);

  void Look();

  // The highest sum of resident sets that a look has seen; what two processes
  // share counts twice.
  int64_t peak_sum_bytes() const { return peak_sum_bytes_; }
  // Of the moment nearest to it.
  const SharedOnce& shared_once() const { return shared_once_; }
  std::vector<ResidentPeak> peaks() const;
  // Those that were there at the last look.
  const std::set<int>& process_ids() const { return process_ids_; }

 private:
  // By process, the number of its last image.
  std::map<int, int> Images() const;
  void ReadParts(int process_id, int image);
  void AddUp(const std::map<int, int>& images);

  std::string folder_;
  int64_t peak_sum_bytes_ = 0;
  SharedOnce shared_once_;
  std::set<int> process_ids_;
  std::map<std::pair<int, int>, ResidentPeak> peaks_;
  // Of the last look, by process and image.
  std::map<std::pair<int, int>, int64_t> last_bytes_;
  int64_t last_sum_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_RESIDENT_WATCH_H_
