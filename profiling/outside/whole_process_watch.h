// What a program needs of a machine, seen from outside: the highest resident
// set of a process and of all that descend from it, together.
//
//   WholeProcessWatch watch(getpid());  // what this process starts
//   while (runs) watch.Look();          // every millisecond
//   watch.NoteEnded(rusage.ru_maxrss * int64_t{1024});
//   watch.peak().resident_bytes;
//
// Measured is what the kernel has counted, whatever the program says of itself:
// heap, what the allocator keeps, mappings, stacks, static data, code that was
// read, shared memory. Nothing is put into the program, and it is not stopped.
//
// * Of one process, the kernel's own high-water mark: nothing between two looks
//   is lost, but for the last look before its end; NoteEnded makes that good
//   for a process that was waited for.
// * Of several, the sum at the moments of the looks: pages that a fork shares
//   count once, and so does an address space that two processes share; file
//   pages count once for each executable. What comes and goes between two looks
//   is lost, but for each process's own mark.
// * A System V segment that nobody has attached counts with its creator.
//
// Not seen: pages of files that nobody maps (also of /dev/shm and memfd), the
// kernel's own memory, and what a process asks another one for that does not
// descend from `ancestor_id`. A control group (memory_group.h) sees the first
// two. An orphan still descends from the next subreaper above it, so the
// ancestor should be one (prctl PR_SET_CHILD_SUBREAPER).
//
// Owns what it has seen. Thread-compatible. Memory: some 100 bytes a process.
// Time of a look: some 50 us a process, and where several processes reach a new
// sum, some milliseconds a GiB. Source: proc(5), kcmp(2), getrusage(2).

#ifndef FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_
#define FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_

#include <cstdint>
#include <set>

namespace footprint {

struct WholeProcessPeak {
  int64_t resident_bytes = 0;
  // Of the last look before it, or at it: what the pages belonged to.
  int64_t anonymous_bytes = 0;  // heap, stacks, private mappings, static data
  int64_t file_bytes = 0;       // code and mapped files
  int64_t shared_bytes = 0;     // shared memory
  int process_count = 0;        // at that moment
};

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
  const int ancestor_id_;
  WholeProcessPeak peak_;
  std::set<int> seen_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_OUTSIDE_WHOLE_PROCESS_WATCH_H_
