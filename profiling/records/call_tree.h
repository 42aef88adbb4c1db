// A tree of calls, as values. Reads the part of an agent's record that says
// where something happened (call_tree_record.h).
//
//   absl::StatusOr<CallTree> tree =
//       ReadCallTree(file, offsetof(SiteFile, tree));
//   const CallTree::Node& call = tree->nodes[i];
//
// Plain values, which outlive the reader. Thread-safe. Memory: in proportion to
// the file's entries, not to its size, since it is sparse. Errors: those of
// RecordFileReader, and kInvalidArgument for a parent or module out of range,
// so that users need not check these. They must check `python_code`.

#ifndef FOOTPRINT_PROFILING_RECORDS_CALL_TREE_H_
#define FOOTPRINT_PROFILING_RECORDS_CALL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/record_file_reader.h"

namespace footprint {

struct CallTree {
  // A program or library as it was loaded.
  struct Module {
    std::string path;
    std::string build_id;  // Hexadecimal digits; empty if it has none.
    uint64_t load_bias = 0;
    uint64_t begin_address = 0;
  };

  static constexpr int kNone = -1;

  // A call, in the tree of all stacks.
  struct Node {
    int parent = kNone;  // Index in `nodes`; kNone for an outermost call.
    int module = kNone;
    // The return address; inside a module, without the load bias.
    uint64_t address = 0;
    // For a call of Python code, the index of its function in the process's
    // PythonCodes, and the current instruction; -1 if it has not begun.
    int python_code = kNone;
    int python_instruction = kNone;
  };

  std::vector<Module> modules;
  // A record's node i is nodes[i - 1]; node 0 stands for no call.
  std::vector<Node> nodes;
  // True if some calls found no room: the disk was full, or there were too
  // many.
  bool is_incomplete = false;
};

// Reads the tree at `offset_bytes` of the file.
absl::StatusOr<CallTree> ReadCallTree(const RecordFileReader& file,
                                      size_t offset_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_CALL_TREE_H_
