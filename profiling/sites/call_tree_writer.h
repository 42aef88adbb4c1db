// Gives each stack of calls a number, which is its innermost call's node in a
// tree that a record holds (call_tree_record.h).
//
//   CallTreeWriter tree;
//   tree.Begin(&file, &mapped->tree, offsetof(SiteFile, tree));
//   const uint32_t node = tree.FindNode(calls, count);
//
// Each recorder has a tree in its own file, under its own lock:
// thread-compatible. Works inside malloc. Memory: 16 bytes a call in the file,
// and an index of 32 to 64.

#ifndef FOOTPRINT_PROFILING_SITES_CALL_TREE_WRITER_H_
#define FOOTPRINT_PROFILING_SITES_CALL_TREE_WRITER_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/records/call_tree_record.h"
#include "footprint/profiling/sites/growing_file.h"
#include "footprint/profiling/sites/number_index.h"

namespace footprint::profiling_internal {

class CallTreeWriter {
 public:
  constexpr CallTreeWriter() = default;
  CallTreeWriter(const CallTreeWriter&) = delete;
  CallTreeWriter& operator=(const CallTreeWriter&) = delete;

  // An empty tree, at `offset_bytes` of the file, which must outlive it. False:
  // there is no room on the disk.
  bool Begin(GrowingFile* file, CallTreeRecord* tree, size_t offset_bytes);

  // The node of the innermost call of a stack, innermost first. A stack that
  // finds no room gets the node of its outer calls; where few nodes are left,
  // the innermost calls of new stacks get none.
  uint32_t FindNode(const uintptr_t* calls, int count);

  // Called after an object was unloaded: another may lie at its addresses next,
  // so that their calls are other ones.
  void ForgetCode() { index_.Clear(); }

 private:
  // The call is the `depth`th of its stack, from outside.
  uint32_t FindCall(uint32_t parent, uintptr_t program_counter, int depth);
  uint32_t FindModule(uintptr_t program_counter);
  void NoteFull() { tree_->is_full.store(1, std::memory_order_relaxed); }

  CallTreeRecord* tree_ = nullptr;
  GrowingArray nodes_;
  GrowingArray modules_;
  NumberIndex index_;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_CALL_TREE_WRITER_H_
