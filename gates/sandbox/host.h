// Finds the mechanisms of the sandbox that this host has, and those it lacks.
//
//   const HostDescription host = DescribeHost();
//   if (!host.missing.empty()) Refuse(host.missing);
//
// Makes a control group and runs a program that does nothing in a sandbox.
// Leaves nothing behind. Thread-safe; keeps nothing. Memory: a few KiB. Time: a
// few milliseconds.

#ifndef FOOTPRINT_GATES_SANDBOX_HOST_H_
#define FOOTPRINT_GATES_SANDBOX_HOST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace footprint {

struct HostDescription {
  // "user namespace", "cgroup v1 memory".
  std::vector<std::string> present;
  // One line for each mechanism that was found missing, with the reason and
  // what to do; empty if trials can be run. A missing mechanism may hide
  // others, since those after it are not tried.
  std::vector<std::string> missing;
  std::string kernel;
};

// Returns the mechanisms that this host has and lacks.
HostDescription DescribeHost();

// Returns OK if the weights of runs (SandboxRun.cpu_weight) have an effect
// here; else the error of CpuGroup or MemoryGroup, which says what to do.
absl::Status CheckCpuWeights();

// Returns the description as lines for people, which are the same on hosts with
// the same kernel and mechanisms.
std::string HostText(const HostDescription& host);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SANDBOX_HOST_H_
