// The processes that a program starts, directly or not, seen from outside: also
// those that nothing measures.
//
//   ProcessChildren children(process_id);
//   while (runs) children.Look();  // every 10 ms
//   for (const auto& [process_id, seen] : children.seen()) Show(seen.name);
//
// A process that comes and goes between two looks is not seen, nor one whose
// parent did.
//
// Owns what it has seen. Thread-compatible. Memory: some 100 bytes a process.
// Time of a look: some 10 us a thread of those that run. Source: proc(5),
// /proc/PID/task/TID/children; a kernel without CONFIG_PROC_CHILDREN tells of
// none.

#ifndef FOOTPRINT_PROFILING_RESIDENT_PROCESS_CHILDREN_H_
#define FOOTPRINT_PROFILING_RESIDENT_PROCESS_CHILDREN_H_

#include <map>
#include <set>
#include <string>

namespace footprint {

// The program that a process ran when it was last seen.
struct SeenProcess {
  std::string name;        // as the kernel has it: of at most 15 bytes
  std::string executable;  // the file's path; empty: not to be read
};

class ProcessChildren {
 public:
  explicit ProcessChildren(int process_id) : running_({process_id}) {}

  void Look();

  // By process, without the first one.
  const std::map<int, SeenProcess>& seen() const { return seen_; }

 private:
  std::set<int> running_;
  std::map<int, SeenProcess> seen_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_PROCESS_CHILDREN_H_
