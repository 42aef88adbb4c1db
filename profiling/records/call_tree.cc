#include "footprint/profiling/records/call_tree.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/records/call_tree_record.h"
#include "footprint/profiling/records/python_record.h"

namespace footprint {
namespace {

using profiling_internal::CallNode;
using profiling_internal::CallTreeRecord;
using profiling_internal::kInstructionBits;
using profiling_internal::kInterpretedCall;
using profiling_internal::kInterpretedModule;
using profiling_internal::kMaxCallNodes;
using profiling_internal::kMaxModules;
using profiling_internal::kNoModule;
using profiling_internal::ModuleRecord;

CallTree::Module ToModule(const ModuleRecord& record) {
  CallTree::Module module;
  module.path =
      std::string(record.path, strnlen(record.path, sizeof(record.path)));
  const size_t size =
      std::min<size_t>(record.build_id_size, sizeof(record.build_id));
  module.build_id = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(record.build_id), size));
  module.load_bias = record.load_bias;
  module.begin_address = record.begin_address;
  return module;
}

void SetPythonCall(CallTree::Node* node) {
  const uint64_t call = node->address & ~kInterpretedCall;
  node->address = 0;
  node->python_code = static_cast<int>(call >> kInstructionBits & INT32_MAX);
  node->python_instruction =
      static_cast<int>(call & ((uint64_t{1} << kInstructionBits) - 1)) - 1;
}

absl::Status AddNodes(const RecordFileReader& file,
                      const std::vector<CallNode>& records, CallTree* tree) {
  for (size_t i = 1; i < records.size(); ++i) {
    const CallNode& record = records[i];
    if (record.parent >= i) return file.Damaged("a call is its own parent");
    CallTree::Node node;
    node.parent = static_cast<int>(record.parent) - 1;
    node.address = record.program_counter;
    if (record.module == kInterpretedModule) {
      SetPythonCall(&node);
    } else if (record.module != kNoModule) {
      if (record.module >= tree->modules.size()) {
        return file.Damaged("a call lies in no module");
      }
      node.module = static_cast<int>(record.module);
      node.address -= tree->modules[record.module].load_bias;
    }
    tree->nodes.push_back(node);
  }
  return absl::OkStatus();
}

// The members before the arrays.
struct Head {
  std::atomic<uint32_t> module_count;
  std::atomic<uint32_t> node_count;
  std::atomic<uint32_t> is_full;
};
static_assert(offsetof(CallTreeRecord, module_count) == 0 &&
              offsetof(CallTreeRecord, node_count) ==
                  offsetof(Head, node_count) &&
              offsetof(CallTreeRecord, is_full) == offsetof(Head, is_full));

}  // namespace

absl::StatusOr<CallTree> ReadCallTree(const RecordFileReader& file,
                                      size_t offset_bytes) {
  Head head;
  absl::Status status =
      file.Read(offset_bytes, sizeof(head), static_cast<void*>(&head));
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<ModuleRecord>> modules =
      file.ReadArray<ModuleRecord>(
          offset_bytes + offsetof(CallTreeRecord, modules),
          head.module_count.load(), kMaxModules);
  if (!modules.ok()) return modules.status();
  absl::StatusOr<std::vector<CallNode>> nodes =
      file.ReadArray<CallNode>(offset_bytes + offsetof(CallTreeRecord, nodes),
                               head.node_count.load(), kMaxCallNodes);
  if (!nodes.ok()) return nodes.status();
  CallTree tree;
  tree.is_incomplete = head.is_full.load() != 0;
  for (const ModuleRecord& record : *modules) {
    tree.modules.push_back(ToModule(record));
  }
  status = AddNodes(file, *nodes, &tree);
  if (!status.ok()) return status;
  return tree;
}

}  // namespace footprint
