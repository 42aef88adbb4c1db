// Watches a program's process and all its descendants from outside, including
// those that nothing measures.
//
//   ProcessChildren processes(process_id, "/tmp/memprof-1");
//   while (runs) processes.Look();  // every 10 ms
//   for (const auto& [process_id, seen] : processes.seen()) Show(seen.name);
//
// Each sample finds whether the agent is in a process: a file of the agent's
// folder is among its mappings. A process that becomes another program by exec
// has other start values (/proc/PID/auxv), so it is examined again.
//
// A process that exists only between two samples is missed, and so are its
// descendants.
//
// Owns its data. Thread-compatible. Memory: some 500 bytes a process. Time of a
// sample: some 15 us for each running thread, and 100 us for each process that
// began since the last sample or that has no agent. Source: proc(5),
// /proc/PID/task/TID/children; a kernel without CONFIG_PROC_CHILDREN lists no
// children.

#ifndef FOOTPRINT_PROFILING_RESIDENT_PROCESS_CHILDREN_H_
#define FOOTPRINT_PROFILING_RESIDENT_PROCESS_CHILDREN_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace footprint {

// The program that a process ran when it was last seen.
struct SeenProcess {
  enum class Agent {
    kNotSeen,  // It ended before its mappings were read.
    // Its mappings may not be read: it is another user's, or protected.
    kForbidden,
    kPresent,
    kAbsent,
  };
  std::string name;  // The kernel's name, of at most 15 bytes.
  Agent agent = Agent::kNotSeen;
  // The time of the last sample that read its mappings, by CLOCK_MONOTONIC.
  int64_t time_ns = 0;
  // The kernel's start values of the program (AT_RANDOM and others), which
  // differ between two programs of one process.
  std::string start_values;
};

class ProcessChildren {
 public:
  // `agent_folder` holds only the agent's files; nothing else there is mapped.
  ProcessChildren(int process_id, std::string agent_folder)
      : agent_folder_(std::move(agent_folder)), running_({process_id}) {}

  // Takes a sample.
  void Look();

  // Returns all processes that were seen, including the first one.
  const std::map<int, SeenProcess>& seen() const { return seen_; }
  // Returns the processes that existed at the last sample.
  const std::set<int>& running() const { return running_; }

 private:
  void LookAt(int process_id);

  const std::string agent_folder_;
  std::set<int> running_;
  std::map<int, SeenProcess> seen_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_PROCESS_CHILDREN_H_
