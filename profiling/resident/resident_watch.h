// Watches the resident sets of a run's processes from outside, and keeps what
// they were when they were largest.
//
//   ResidentWatch watch("/tmp/memprof-1");
//   while (runs) watch.Look(process_ids);  // every 10 ms
//   watch.peak_sum_bytes();
//   for (const ResidentPeak& peak : watch.peaks()) Show(peak.parts);
//
// Processes that have a record are watched, and those that a look names. A peak
// that comes and goes between two looks is not seen. The parts are read when a
// process's resident set has grown by a fiftieth since they were last read, or
// by a four-hundredth where it stays for a look, so those kept are of a moment
// at most that far below its peak. A process that became a program without the
// agent has no parts: its record is of the program before.
//
// Pages that processes share are told apart when the processes are others than
// at the last time, or have grown as above. The kernel tells of each process's
// share in turn, so this counts only if no process came or went meanwhile; else
// it is done again.
//
// Owns what it has seen, and keeps no process: one that ends leaves its peak.
// Thread-compatible. Memory: some hundred bytes a process. Time of a look: 10
// us a process, and where it has grown some milliseconds a GiB; telling shared
// pages apart takes as long again, and where it finds no new peak at most a
// tenth of the time.

#ifndef FOOTPRINT_PROFILING_RESIDENT_RESIDENT_WATCH_H_
#define FOOTPRINT_PROFILING_RESIDENT_RESIDENT_WATCH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/resident/mapping_state.h"
#include "footprint/profiling/resident/memory_files.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {

// The peak of one process image.
struct ResidentPeak {
  int process_id = 0;
  int image = 0;
  int64_t time_ns = 0;  // CLOCK_MONOTONIC
  ResidentSet parts;
  // The live bytes of the heap, as last told before. 0: never told.
  int64_t live_bytes = 0;
};

// Bytes that all processes together need of a machine, without the agent: of a
// file that several have mapped, the most that one of them has of it.
struct SharedOnce {
  int64_t anonymous_bytes = 0;
  int64_t file_bytes = 0;
  // Files in memory (tmpfs) that grew during the run and that nobody has
  // mapped.
  int64_t memory_file_bytes = 0;
  int64_t swapped_bytes = 0;
  int64_t page_table_bytes = 0;
  int64_t kernel_stack_bytes = 0;
  // The sum at that moment; bytes that processes share count for each of them.
  int64_t resident_sum_bytes = 0;
  // No process came or went while shares were read.
  bool is_of_one_moment = false;

  // Resident in the processes.
  int64_t resident_bytes() const { return anonymous_bytes + file_bytes; }
  int64_t all_bytes() const {
    return resident_bytes() + memory_file_bytes + swapped_bytes;
  }
};

class ResidentWatch {
 public:
  // `record_folder` has the agents' records; its files count as the agent's.
  explicit ResidentWatch(std::string record_folder);

  // `process_ids` are watched besides those that have a record.
  void Look(const std::set<int>& process_ids);

  // The highest sum of resident sets that a look has seen; what two processes
  // share counts twice.
  int64_t peak_sum_bytes() const { return peak_sum_bytes_; }
  // The most that a look has seen of one process, recorded or not.
  int64_t peak_process_bytes() const { return peak_process_bytes_; }
  // Returns the parts at the moment at which all together needed most, as far
  // as it was seen.
  const SharedOnce& shared_once() const { return shared_once_; }
  std::vector<ResidentPeak> peaks() const;
  // Returns the processes that were there at the last look.
  const std::set<int>& process_ids() const { return process_ids_; }

 private:
  // Returns the number of the last image of each process.
  std::map<int, int> Images() const;
  absl::StatusOr<MappingState> ReadState(int process_id, int image) const;
  void ReadParts(int process_id, int image);
  SharedOnce ReadShares(const std::set<int>& process_ids) const;
  void TellSharesApart(int64_t look_bytes);
  bool MayBeNewPeak(int64_t look_bytes) const;

  const std::string folder_;
  MemoryFiles memory_files_;
  int64_t peak_sum_bytes_ = 0;
  int64_t peak_process_bytes_ = 0;
  SharedOnce shared_once_;
  // The number of the last image of each process of the last look.
  std::map<int, int> images_;
  std::set<int> process_ids_;
  std::map<std::pair<int, int>, ResidentPeak> peaks_;
  // The bytes at the last look, by process and image.
  std::map<std::pair<int, int>, int64_t> last_bytes_;
  // The bytes that an image had when it was found that its process had become a
  // program without the agent.
  std::map<std::pair<int, int>, int64_t> bytes_without_agent_;
  int64_t last_look_bytes_ = 0;
  // The processes whose shares were last told apart, which of their pages count
  // once, and the least that a look has seen since.
  std::set<int> told_process_ids_;
  int64_t told_once_bytes_ = 0;
  int64_t told_look_bytes_ = 0;
  int64_t next_telling_ns_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_RESIDENT_WATCH_H_
