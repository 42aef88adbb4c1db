// Memory that a program needs of a machine, seen from outside: the highest sum
// of the resident sets of a process and of all that descend from it, and of
// what they hold besides.
//
//   WholeProcessWatch watch(getpid(), &group);  // what this process starts
//   while (runs) watch.Look();                  // every millisecond
//   watch.NoteEnded(rusage.ru_maxrss * int64_t{1024});
//   watch.LookAtGroup();
//   watch.peak().resident_bytes;
//
// All pages that the kernel has counted are measured, whatever the program says
// of itself: heap, pages that the allocator keeps, mappings, stacks, static
// data, code that was read, shared memory. Nothing is put into the program, and
// it is not stopped.
//
// * Pages count once: those that a fork shares, an address space that two
//   processes share, and those of a file, by device and inode, however many
//   map them and however often (file_uses.h).
// * A file in memory counts whole with those who have it open or map it, and a
//   System V segment with its creator. Huge pages and page tables count.
// * With a control group that the processes run in, its count decides where it
//   is higher: memory charged to it that is no page cache, beside the files'
//   pages that are mapped. So pages count that no process shows, such as the
//   buffers of pipes and sockets, and files in flight. The group's mark and the
//   mark of each process lose nothing between two looks.
// * Without a group, memory that comes and goes between two looks is lost, but
//   for each process's own mark and NoteEnded's; and the kernel's own memory is
//   not seen, but for page tables.
// * The parts say what the pages of the largest process are for, as its
//   mappings tell at a look near the peak. Pages that came and went between two
//   looks are in none of them: `unexplained_bytes`.
//
// Not seen: memory that a process asks another one for that does not descend
// from `ancestor_id`, page cache that nobody maps, and what a process does that
// leaves the group, as root may. An orphan still descends from the next
// subreaper above it, so the ancestor should be one (prctl
// PR_SET_CHILD_SUBREAPER).
//
// Owns what it has seen; the group must outlive it. Thread-compatible. Memory:
// some 100 bytes a process and a mapping. Time of a look: some 200 us a
// process, and where several processes reach a new sum, some milliseconds a
// GiB. Source: proc(5), kcmp(2), getrusage(2), memory_group.h.

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

// The parts at the look nearest to a peak. Their sum is what that look has
// seen.
struct WholeProcessParts {
  int64_t heap_and_mapping_bytes = 0;  // anonymous pages that are no stack
  int64_t stack_bytes = 0;
  int64_t image_bytes = 0;   // code and static data, the libraries' too
  int64_t file_bytes = 0;    // other files that are mapped
  int64_t shared_bytes = 0;  // shared memory, mapped or not
  // Page tables; with a control group, all that is charged to it and that no
  // process shows.
  int64_t kernel_bytes = 0;
  int64_t other_bytes = 0;  // mappings of the kernel's, as [vvar]
  int64_t other_process_bytes = 0;

  int64_t Sum() const {
    return heap_and_mapping_bytes + stack_bytes + image_bytes + file_bytes +
           shared_bytes + kernel_bytes + other_bytes + other_process_bytes;
  }
};

struct WholeProcessPeak {
  int64_t resident_bytes = 0;
  // The pages belonged to these at the last look before the peak, or at it.
  int64_t anonymous_bytes = 0;  // heap, stacks, private mappings, static data
  int64_t file_bytes = 0;       // code and mapped files
  int64_t shared_bytes = 0;     // shared memory and files in memory
  int process_count = 0;        // at that moment
  // Address space beside code and stack that has no anonymous page.
  int64_t untouched_bytes = 0;
  WholeProcessParts parts;

  // Returns what the parts leave out, of either sign: they are read a moment
  // later.
  int64_t unexplained_bytes() const { return resident_bytes - parts.Sum(); }
};

namespace profiling_internal {

// The pages of one address space, in bytes.
struct ResidentCounts {
  int64_t mark = 0;  // the kernel's high-water mark
  int64_t anonymous = 0;
  int64_t file = 0;
  int64_t shared = 0;
  int64_t page_tables = 0;
  int64_t huge = 0;
  int64_t untouched = 0;  // address space, in no sum

  int64_t Sum() const { return anonymous + file + shared + page_tables + huge; }
};

}  // namespace profiling_internal

class WholeProcessWatch {
 public:
  // Descendants of `ancestor_id` are watched, it itself is not. `group`, if
  // any, is theirs alone.
  explicit WholeProcessWatch(int ancestor_id,
                             const MemoryGroup* group = nullptr);

  void Look();

  // The group alone, when all have ended.
  void LookAtGroup();

  // The mark of a descendant that has ended, as wait4 tells it: its own, or
  // that of a child that it waited for.
  void NoteEnded(int64_t peak_resident_bytes);

  const WholeProcessPeak& peak() const { return peak_; }

  // All that any look has seen.
  const std::set<int>& seen_process_ids() const { return seen_; }

 private:
  using CountsOfProcesses = std::map<int, profiling_internal::ResidentCounts>;

  // The sum at one moment.
  struct Sum {
    profiling_internal::ResidentCounts mapped;  // each page once
    int64_t unmapped_bytes = 0;                 // of files in memory
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
  int64_t last_sum_bytes_ = 0;   // of the look before
  int64_t parts_sum_bytes_ = 0;  // of the look that read the parts
  int64_t last_file_bytes_ = 0;  // mapped, of the look before
  int64_t most_file_bytes_ = 0;  // of any look, as often as they are mapped
  int64_t last_group_peak_bytes_ = 0;
  int64_t last_group_rest_bytes_ = 0;  // page cache and the like
  int64_t highest_sum_bytes_ = 0;      // of a look, or by the group's mark
  int64_t highest_mark_bytes_ = 0;     // of a process
  // That a process had mapped beyond the first time, so that its mark has, too.
  int64_t most_repeated_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_
