// A program's process and those that it starts, directly or not, seen from
// outside: also those that nothing measures.
//
//   ProcessChildren processes(process_id, "/tmp/memprof-1");
//   while (runs) processes.Look();  // every 10 ms
//   for (const auto& [process_id, seen] : processes.seen()) Show(seen.name);
//
// Each look tells whether the agent is in a process: a file of the agent's
// folder is among its mappings. A process that becomes another program by exec
// has other start values (/proc/PID/auxv), so it is looked at again.
//
// A process that comes and goes between two looks is not seen, nor one whose
// parent did.
//
// Owns what it has seen. Thread-compatible. Memory: some 500 bytes a process.
// Time of a look: some 15 us a thread of those that run, and 100 us a process
// that began since the last look or that has no agent. Source: proc(5),
// /proc/PID/task/TID/children; a kernel without CONFIG_PROC_CHILDREN tells of
// no children.

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
    kNotSeen,    // it had ended when its mappings were to be read
    kForbidden,  // its mappings may not be read: another user's, or a secret
    kPresent,
    kAbsent,
  };
  std::string name;  // as the kernel has it: of at most 15 bytes
  Agent agent = Agent::kNotSeen;
  // The time of the last look that read its mappings, by CLOCK_MONOTONIC.
  int64_t time_ns = 0;
  // The kernel's start values of the program (AT_RANDOM and others), by which
  // two programs of one process differ.
  std::string start_values;
};

class ProcessChildren {
 public:
  // `agent_folder` holds the agent's files, and nothing else is mapped there.
  ProcessChildren(int process_id, std::string agent_folder)
      : agent_folder_(std::move(agent_folder)), running_({process_id}) {}

  void Look();

  // Returns the processes that were seen, each with the first one among them.
  const std::map<int, SeenProcess>& seen() const { return seen_; }
  // Returns the processes that were there at the last look.
  const std::set<int>& running() const { return running_; }

 private:
  void LookAt(int process_id);

  const std::string agent_folder_;
  std::set<int> running_;
  std::map<int, SeenProcess> seen_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_PROCESS_CHILDREN_H_
