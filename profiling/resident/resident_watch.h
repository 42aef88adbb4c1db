// Watches the resident sets of a run's processes from outside, and keeps their
// parts at their largest.
//
//   ResidentWatch watch("/tmp/memprof-1");
//   while (runs) watch.Look(process_ids);  // every 10 ms
//   watch.peak_sum_bytes();
//   for (const ResidentPeak& peak : watch.peaks()) Show(peak.parts);
//
// It watches the processes that have a record, and those passed to Look. A peak
// between two samples is missed. The parts are read when a process's resident
// set has grown by a fiftieth since they were last read, or by a four-hundredth
// if it stays constant for a sample. So the parts that are kept are from a
// moment at most that far below its peak. A process that became a program
// without the agent has no parts, because its record belongs to the previous
// program.
//
// Shared pages are computed when the processes changed since the last time, or
// have grown as above. The kernel reports each process's share in turn, so the
// result is valid only if no process began or ended meanwhile; otherwise it is
// repeated.
//
// Owns its data and keeps no process; one that ends leaves its peak.
// Thread-compatible. Memory: some hundred bytes a process. Time of a sample: 10
// us a process, and some milliseconds a GiB if it has grown. The computation of
// shared pages takes as long again; if it finds no new peak, it takes at most a
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
#include "footprint/profiling/resident/mounts.h"
#include "footprint/profiling/resident/peak_trigger.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {

// The peak of one process image.
struct ResidentPeak {
  int process_id = 0;
  int image = 0;
  int64_t time_ns = 0;  // CLOCK_MONOTONIC
  ResidentSet parts;
  // The live bytes of the heap, as last published before; 0 if never published.
  int64_t live_bytes = 0;
};

// Bytes that all processes together need of a machine, without the agent. A
// file that several processes map counts with the most that one of them has of
// it.
struct SharedOnce {
  int64_t anonymous_bytes = 0;
  int64_t file_bytes = 0;
  // The part of file_bytes that the kernel can drop and read again: pages of
  // mapped files on a disk that have no code, are written to the disk, and are
  // locked by no process.
  int64_t droppable_bytes = 0;
  // Files in memory (tmpfs) that grew during the run and that no process maps.
  int64_t memory_file_bytes = 0;
  int64_t swapped_bytes = 0;
  int64_t page_table_bytes = 0;
  int64_t kernel_stack_bytes = 0;
  // The sum of the resident sets; bytes that processes share count for each.
  int64_t resident_sum_bytes = 0;
  // True if no process began or ended while shares were read.
  bool is_of_one_moment = false;

  // Returns the bytes that are resident in the processes.
  int64_t resident_bytes() const { return anonymous_bytes + file_bytes; }
  int64_t all_bytes() const {
    return resident_bytes() + memory_file_bytes + swapped_bytes;
  }
  // Returns the bytes that the kernel cannot drop.
  int64_t held_bytes() const { return all_bytes() - droppable_bytes; }
};

class ResidentWatch {
 public:
  // `record_folder` has the agents' records; files in it count as the agent's.
  explicit ResidentWatch(std::string record_folder);

  // Takes a sample of `process_ids` and of the processes that have a record.
  void Look(const std::set<int>& process_ids);

  // Returns the highest sum of resident sets at a sample. Memory that two
  // processes share counts twice.
  int64_t peak_sum_bytes() const { return peak_sum_bytes_; }
  // Returns the largest sample of one process, recorded or not.
  int64_t peak_process_bytes() const { return peak_process_bytes_; }
  // Returns the parts at the sample at which all processes together needed
  // most.
  const SharedOnce& shared_once() const { return shared_once_; }
  // Returns the parts at the sample at which they held most that the kernel
  // cannot drop. This may be another moment: a mapped file that is read and
  // closed may be followed by less memory of the program's own.
  const SharedOnce& held_once() const { return held_once_; }
  // Returns the parts of each process image at its peak.
  std::vector<ResidentPeak> peaks() const;
  // Returns the processes that existed at the last sample.
  const std::set<int>& process_ids() const { return process_ids_; }

 private:
  // Returns the number of each process's last image.
  std::map<int, int> Images() const;
  absl::StatusOr<MappingState> ReadState(int process_id, int image) const;
  void ReadParts(int process_id, int image);
  SharedOnce ReadShares(const std::set<int>& process_ids) const;
  SharedOnce ReadSharesOfOneMoment(std::set<int>* process_ids) const;
  void UpdateShares(int64_t look_bytes, int64_t file_look_bytes);
  bool MayBeNewPeak(int64_t look_bytes, int64_t file_look_bytes) const;
  int64_t HeldLookBytes(int64_t look_bytes, int64_t file_look_bytes) const {
    return look_bytes - file_look_bytes + told_held_file_bytes_;
  }

  const std::string folder_;
  const RereadableDevices rereadable_devices_;
  MemoryFiles memory_files_;
  int64_t peak_sum_bytes_ = 0;
  int64_t peak_process_bytes_ = 0;
  SharedOnce shared_once_;
  SharedOnce held_once_;
  // The number of the last image of each process at the last sample.
  std::map<int, int> images_;
  std::set<int> process_ids_;
  std::map<std::pair<int, int>, ResidentPeak> peaks_;
  // The bytes at the last sample, by process and image.
  std::map<std::pair<int, int>, int64_t> last_bytes_;
  // The bytes of an image when its process was found to have become a program
  // without the agent.
  std::map<std::pair<int, int>, int64_t> bytes_without_agent_;
  // The processes whose shares were last computed, and their file pages that
  // the kernel cannot drop.
  std::set<int> told_process_ids_;
  int64_t told_held_file_bytes_ = 0;
  // True once so much could be dropped that the two peaks may differ.
  bool has_droppable_ = false;
  PeakTrigger shared_trigger_;
  PeakTrigger held_trigger_;
  int64_t next_update_ns_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_RESIDENT_WATCH_H_
