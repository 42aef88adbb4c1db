// Memory that a program needs of a machine, seen from outside: the highest
// resident set of a process and of all that descend from it, together.
//
//   WholeProcessWatch watch(getpid());  // what this process starts
//   while (runs) watch.Look();          // every millisecond
//   watch.NoteEnded(rusage.ru_maxrss * int64_t{1024});
//   watch.peak().resident_bytes;
//
// All pages that the kernel has counted are measured, whatever the program says
// of itself: heap, pages that the allocator keeps, mappings, stacks, static
// data, code that was read, shared memory. Nothing is put into the program, and
// it is not stopped.
//
// * Of one process, the kernel's own high-water mark: nothing between two looks
//   is lost, but for the last look before its end; NoteEnded makes that good
//   for a process that was waited for.
// * Of several, the sum at the moments of the looks: pages that a fork shares
//   count once, and so does an address space that two processes share; file
//   pages count once for each executable. Pages that come and go between two
//   looks are lost, but for each process's own mark.
// * A System V segment that nobody has attached counts with its creator, and a
//   file in memory (memfd, /dev/shm) that nobody maps with those who have it
//   open.
// * The parts say what the pages of the largest process are for, as its
//   mappings tell at a look near the peak. Pages that came and went between two
//   looks are in none of them: `unexplained_bytes`.
//
// Not seen: pages of files that are neither mapped nor open, the page cache,
// the kernel's own memory, and memory that a process asks another one for that
// does not descend from `ancestor_id`. A control group
// (base/machine/memory_group.h) sees all but the last. An orphan still descends
// from the next subreaper above it, so the ancestor should be one (prctl
// PR_SET_CHILD_SUBREAPER).
//
// Owns what it has seen. Thread-compatible. Memory: some 100 bytes a process.
// Time of a look: some 50 us a process, and where several processes reach a new
// sum, some milliseconds a GiB. Source: proc(5), kcmp(2), getrusage(2).

#ifndef FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_
#define FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_

#include <cstdint>
#include <map>
#include <set>

namespace footprint {

// Of the look nearest to a peak. Their sum is what that look has seen.
struct WholeProcessParts {
  int64_t heap_and_mapping_bytes = 0;  // anonymous pages that are no stack
  int64_t stack_bytes = 0;
  int64_t image_bytes = 0;   // code and static data, the libraries' too
  int64_t file_bytes = 0;    // other files that are mapped
  int64_t shared_bytes = 0;  // shared memory, mapped or not
  int64_t other_bytes = 0;   // the kernel's own, as [vvar]
  int64_t other_process_bytes = 0;

  int64_t Sum() const {
    return heap_and_mapping_bytes + stack_bytes + image_bytes + file_bytes +
           shared_bytes + other_bytes + other_process_bytes;
  }
};

struct WholeProcessPeak {
  int64_t resident_bytes = 0;
  // Of the last look before it, or at it: what the pages belonged to.
  int64_t anonymous_bytes = 0;  // heap, stacks, private mappings, static data
  int64_t file_bytes = 0;       // code and mapped files
  int64_t shared_bytes = 0;     // shared memory
  int process_count = 0;        // at that moment
  WholeProcessParts parts;

  // Of either sign: the parts are read a moment later.
  int64_t unexplained_bytes() const { return resident_bytes - parts.Sum(); }
};

namespace profiling_internal {

// Of one address space, in bytes.
struct ResidentCounts {
  int64_t mark = 0;  // the kernel's high-water mark
  int64_t anonymous = 0;
  int64_t file = 0;
  int64_t shared = 0;

  int64_t Sum() const { return anonymous + file + shared; }
};

}  // namespace profiling_internal

class WholeProcessWatch {
 public:
  // Descendants of `ancestor_id` are watched, it itself is not.
  explicit WholeProcessWatch(int ancestor_id) : ancestor_id_(ancestor_id) {}

  void Look();

  // The mark of a descendant that has ended, as wait4 tells it: its own, or
  // that of a child that it waited for.
  void NoteEnded(int64_t peak_resident_bytes);

  const WholeProcessPeak& peak() const { return peak_; }

  // All that any look has seen.
  const std::set<int>& seen_process_ids() const { return seen_; }

 private:
  using CountsOfProcesses = std::map<int, profiling_internal::ResidentCounts>;

  // `unmapped_bytes` belong to no process alone and come besides.
  void NoteSum(const CountsOfProcesses& counts, int64_t unmapped_bytes);
  void ReadParts(const CountsOfProcesses& counts, int64_t unmapped_bytes,
                 int64_t sum_bytes);

  const int ancestor_id_;
  WholeProcessPeak peak_;
  std::set<int> seen_;
  int64_t last_sum_bytes_ = 0;   // of the look before
  int64_t parts_sum_bytes_ = 0;  // of the look that read the parts
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_
