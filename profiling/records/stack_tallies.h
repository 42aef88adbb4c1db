// Reads an agent's samples, added up by call stack, thread and stage, from the
// file that the agent wrote (stack_tallies_record.h).
//
//   absl::StatusOr<StackTallies> copies =
//       ReadStackTallies("1234.0.copies", "copies");
//   for (const StackTallies::Tally& each : copies->tallies) {
//     // copies->tree.nodes[each.node] copied each.amounts[0] bytes
//   }
//
// The process may still run and write. The result owns its texts and stacks, so
// the file may be deleted. Thread-safe. Memory: in proportion to the file's
// entries, not to its size, since it is sparse. Errors: those of FileError,
// kDataLoss for a file that is cut short, and kInvalidArgument for a file of
// another version, a damaged one, or indices of nodes or modules out of range,
// so that users need not check these. Numbers of threads and stages are not
// checked.

#ifndef FOOTPRINT_PROFILING_RECORDS_STACK_TALLIES_H_
#define FOOTPRINT_PROFILING_RECORDS_STACK_TALLIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/records/call_tree.h"

namespace footprint {

struct StackTallies {
  struct Tally {
    // Index in tree.nodes; kNone if the stack is unknown.
    int node = CallTree::kNone;
    uint32_t thread = 0;
    uint32_t stage = 0;
    int64_t sample_count = 0;
    // For processor time, nanoseconds in the program and in the kernel. For
    // copies, bytes and calls.
    int64_t amounts[2] = {};
    double variance = 0;  // The variance of the first amount.
  };

  // The mean distance of two samples, in the unit of the first amount; for
  // processor time, in nanoseconds.
  int64_t sampling_interval = 0;
  // True if some stacks did not fit into the file.
  bool is_incomplete = false;
  int missed_thread_count = 0;  // threads that could not be sampled
  CallTree tree;
  std::vector<Tally> tallies;
};

// Reads the file. `content` names the kind of record for errors.
absl::StatusOr<StackTallies> ReadStackTallies(const std::string& path,
                                              absl::string_view content);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_STACK_TALLIES_H_
