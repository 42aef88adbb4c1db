// Measures from outside the memory that a program needs of a machine: the
// highest sum of the resident sets of a process's descendants, and of the other
// memory that they hold.
//
//   WholeProcessWatch watch(getpid(), &group);  // what this process starts
//   while (runs) watch.Look();                  // every millisecond
//   watch.NoteEnded(rusage.ru_maxrss * int64_t{1024});
//   watch.LookAtGroup();
//   watch.peak().resident_bytes;
//
// All pages that the kernel counts are measured, whatever the program reports:
// heap, the allocator's reserves, mappings, stacks, static data, code that was
// read, shared memory. Nothing is injected into the program, and it is not
// stopped.
//
// * Pages count once: pages that a fork shares, an address space that two
//   processes share, and pages of a file, by device and inode, however many
//   processes map them and however often (file_uses.h).
// * A file in memory counts as a whole for the processes that have it open or
//   map it, and a System V segment for its creator. Huge pages and page tables
//   count.
// * If the processes run in a control group, its count is used if it is higher:
//   memory charged to it that is not page cache, plus the files' mapped pages.
//   So pages that no process shows count, too, such as buffers of pipes and
//   sockets, and files in flight. The group's high-water mark and that of each
//   process miss nothing between two samples.
// * Without a group, memory that exists only between two samples is missed
//   unless a process's own high-water mark or NoteEnded shows it, and of the
//   kernel's own memory only page tables are seen.
// * The parts say what the pages of the largest process are for, from its
//   mappings at a sample near the peak. Pages that existed only between two
//   samples are `unexplained_bytes`.
//
// It does not see memory that a process requests from a process outside the
// descendants of `ancestor_id`, page cache that no process maps, and processes
// that leave the group, as root may. An orphan still descends from the next
// subreaper above it, so the ancestor should be one (prctl
// PR_SET_CHILD_SUBREAPER).
//
// Owns its data; the group must outlive it. Thread-compatible. Memory: some 100
// bytes a process and a mapping. Time of a sample: some 200 us a process, and
// some milliseconds a GiB if several processes reach a new highest sum. Source:
// proc(5), kcmp(2), getrusage(2), memory_group.h.

#ifndef FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_
#define FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_

#include <time.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "footprint/base/machine/memory_group.h"
#include "footprint/profiling/outside/file_uses.h"

namespace footprint {

// The parts at the sample nearest to a peak. They add up to that sample's sum.
struct WholeProcessParts {
  int64_t heap_and_mapping_bytes = 0;  // Anonymous pages except stacks.
  int64_t stack_bytes = 0;
  int64_t image_bytes = 0;   // Code and static data, also of libraries.
  int64_t file_bytes = 0;    // Other mapped files.
  int64_t shared_bytes = 0;  // Shared memory, mapped or not.
  // Page tables; with a control group, everything charged to it that no process
  // shows.
  int64_t kernel_bytes = 0;
  int64_t other_bytes = 0;  // Mappings of the kernel, such as [vvar].
  int64_t other_process_bytes = 0;

  int64_t Sum() const {
    return heap_and_mapping_bytes + stack_bytes + image_bytes + file_bytes +
           shared_bytes + kernel_bytes + other_bytes + other_process_bytes;
  }
};

struct WholeProcessPeak {
  int64_t resident_bytes = 0;
  // The pages by kind at the last sample before the peak, or at the peak.
  int64_t anonymous_bytes = 0;  // Heap, stacks, private mappings, static data.
  int64_t file_bytes = 0;       // Code and mapped files.
  int64_t shared_bytes = 0;     // Shared memory and files in memory.
  int process_count = 0;        // The number at that moment.
  // Address space except code and stacks that has no anonymous page.
  int64_t untouched_bytes = 0;
  WholeProcessParts parts;

  // Returns the difference to the sum of the parts, of either sign, because
  // they are read a moment later.
  int64_t unexplained_bytes() const { return resident_bytes - parts.Sum(); }
};

namespace profiling_internal {

// The pages of one address space, in bytes.
struct ResidentCounts {
  int64_t mark = 0;  // The kernel's high-water mark.
  int64_t anonymous = 0;
  int64_t file = 0;
  int64_t shared = 0;
  int64_t page_tables = 0;
  int64_t huge = 0;
  int64_t untouched = 0;  // Address space, which is in no sum.

  int64_t Sum() const { return anonymous + file + shared + page_tables + huge; }
};

}  // namespace profiling_internal

class WholeProcessWatch {
 public:
  // Watches the descendants of `ancestor_id`, without itself. `group`, if any,
  // must have only them.
  explicit WholeProcessWatch(int ancestor_id,
                             const MemoryGroup* group = nullptr);

  // Takes a sample of all descendants, and of the group if there is one.
  void Look();

  // Reads only the group, after all processes have ended. Does nothing without
  // a group.
  void LookAtGroup();

  // Raises the peak to the high-water mark of a descendant that has ended, as
  // wait4 reports it: its own, or that of a child that it waited for.
  void NoteEnded(int64_t peak_resident_bytes);

  const WholeProcessPeak& peak() const { return peak_; }

  // Returns all processes that any sample has seen.
  const std::set<int>& seen_process_ids() const { return seen_; }

 private:
  using CountsOfProcesses = std::map<int, profiling_internal::ResidentCounts>;

  // The sum at one moment.
  struct Sum {
    profiling_internal::ResidentCounts mapped;  // Each page counts once.
    int64_t unmapped_bytes = 0;                 // In files in memory.
    int64_t huge_bytes = 0;
    int64_t kernel_bytes = 0;

    int64_t Bytes() const {
      return mapped.anonymous + mapped.file + mapped.shared + unmapped_bytes +
             huge_bytes + kernel_bytes;
    }
  };

  void NoteSum(const CountsOfProcesses& counts,
               const std::vector<int>& address_spaces, const FileUses& uses);
  Sum AddUp(const CountsOfProcesses& counts,
            const std::vector<int>& address_spaces, const FileUses& uses) const;
  void NoteHighestSum(int64_t bytes);
  void NoteMarks(const CountsOfProcesses& counts);
  void ReadParts(const CountsOfProcesses& counts, const Sum& sum);

  const int ancestor_id_;
  const MemoryGroup* const group_;
  const timespec begin_;
  WholeProcessPeak peak_;
  std::set<int> seen_;
  int64_t last_sum_bytes_ = 0;   // The sum of the sample before.
  int64_t parts_sum_bytes_ = 0;  // The sum of the sample that read the parts.
  int64_t last_file_bytes_ = 0;  // Mapped at the sample before.
  int64_t most_file_bytes_ = 0;  // At any sample; counts repeated mappings.
  int64_t last_group_peak_bytes_ = 0;
  int64_t last_group_rest_bytes_ = 0;  // Page cache and the like.
  int64_t highest_sum_bytes_ = 0;      // Of a sample, or by the group's mark.
  int64_t highest_mark_bytes_ = 0;     // Of a process.
  // The most that a process had mapped repeatedly, which its mark includes.
  int64_t most_repeated_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_
