#include "footprint/profiling/sites/call_tree_writer.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstddef>
#include <cstdint>

#include "footprint/profiling/sites/loaded_object.h"

namespace footprint::profiling_internal {
namespace {

// Returns how many outer calls of a stack may be new. There is no limit until
// seven eighths of the nodes are used. From then on it falls with the nodes
// that are left, so that a program with very many stacks still has, for each
// block, the outer calls, which are its own code's.
int NewCallLimit(uint32_t node_count) {
  constexpr int kFewestCalls = 8;
  constexpr int kMostCalls = 64;
  constexpr uint32_t kKeptNodes = kMaxCallNodes / 8;
  const uint32_t free_nodes = kMaxCallNodes - node_count;
  if (free_nodes > kKeptNodes) return INT_MAX;
  return kFewestCalls + static_cast<int>(uint64_t{kMostCalls - kFewestCalls} *
                                         free_nodes / kKeptNodes);
}

}  // namespace

bool CallTreeWriter::Begin(GrowingFile* file, CallTreeRecord* tree,
                           size_t offset_bytes) {
  tree_ = tree;
  index_.Clear();
  nodes_ = GrowingArray(file, offset_bytes + offsetof(CallTreeRecord, nodes),
                        sizeof(CallNode), kMaxCallNodes);
  modules_ =
      GrowingArray(file, offset_bytes + offsetof(CallTreeRecord, modules),
                   sizeof(ModuleRecord), kMaxModules);
  if (!nodes_.Reach(kRootNode)) return false;
  tree->node_count = 1;
  return true;
}

// Returns the module of the object that contains the code now.
uint32_t CallTreeWriter::FindModule(uintptr_t program_counter) {
  if ((program_counter & kInterpretedCall) != 0) return kInterpretedModule;
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(program_counter), &found) != 0) {
    return kNoModule;
  }
  const uint32_t count = tree_->module_count.load(std::memory_order_relaxed);
  for (uint32_t i = count; i-- > 0;) {
    if (IsLoadedObject(tree_->modules[i], found)) return i;
  }
  if (!modules_.Reach(count)) {
    NoteFull();
    return kNoModule;
  }
  DescribeLoadedObject(found, &tree_->modules[count]);
  tree_->module_count.store(count + 1, std::memory_order_release);
  return count;
}

// Returns kRootNode if there is no room.
uint32_t CallTreeWriter::FindCall(uint32_t parent, uintptr_t program_counter,
                                  int depth) {
  const uint64_t hash = HashPair(parent, program_counter);
  const uint32_t known = index_.Find(hash, [&](uint32_t number) {
    const CallNode& node = tree_->nodes[number];
    return node.parent == parent && node.program_counter == program_counter;
  });
  if (known != NumberIndex::kNone) return known;
  const uint32_t number = tree_->node_count.load(std::memory_order_relaxed);
  if (depth > NewCallLimit(number) || !nodes_.Reach(number) ||
      !index_.Add(hash, number)) {
    NoteFull();
    return kRootNode;
  }
  tree_->nodes[number] = {program_counter, parent, FindModule(program_counter)};
  tree_->node_count.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t CallTreeWriter::FindNode(const uintptr_t* calls, int count) {
  uint32_t node = kRootNode;
  for (int i = count; i-- > 0;) {
    const uint32_t inner = FindCall(node, calls[i], count - i);
    if (inner == kRootNode) break;
    node = inner;
  }
  return node;
}

}  // namespace footprint::profiling_internal
