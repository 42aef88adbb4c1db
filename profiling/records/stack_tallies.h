// An agent's samples, added up by stack of calls, as values: reads the file
// that the agent wrote (stack_tallies_record.h).
//
//   absl::StatusOr<StackTallies> copies =
//       ReadStackTallies("1234.0.copies", "copies");
//   for (const StackTallies::Tally& each : copies->tallies) {
//     // copies->tree.nodes[each.node] copied each.amounts[0] bytes
//   }
//
// The process may still run and write. Owns its texts and stacks, so the file
// may go. Thread-safe. Memory: in proportion to the entries that the file
// holds, not to its size, since it is sparse. Errors: the file's, and
// kInvalidArgument for one of another version, cut short or damaged; indices
// that lead nowhere are an error, too, so that users need not look.

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
    // The node in tree.nodes; kNone: no stack is known.
    int node = CallTree::kNone;
    uint32_t thread = 0;
    uint32_t stage = 0;
    int64_t sample_count = 0;
    // Processor time: nanoseconds in the program and in the kernel. Copies:
    // bytes and calls.
    int64_t amounts[2] = {};
    double variance = 0;  // of the first amount
  };

  // The mean distance of two samples, in the unit of the first amount or, for
  // processor time, in nanoseconds.
  int64_t sampling_interval = 0;
  // Some stacks found no room.
  bool is_incomplete = false;
  int missed_thread_count = 0;
  CallTree tree;
  std::vector<Tally> tallies;
};

// `content` says what the file should be a record of.
absl::StatusOr<StackTallies> ReadStackTallies(const std::string& path,
                                              absl::string_view content);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_STACK_TALLIES_H_
