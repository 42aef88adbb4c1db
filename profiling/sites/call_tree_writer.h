// Gives each stack of calls a number: the node of its innermost call in a tree
// that a record holds (call_tree_record.h).
//
//   CallTreeWriter tree;
//   tree.Begin(&file, &mapped->tree, offsetof(SiteFile, tree));
//   const uint32_t node = tree.FindNode(calls, count);
//
// Each recorder has a tree in its own file, under its own lock, so the class is
// thread-compatible. Works inside malloc. Memory: 16 bytes a call in the file,
// and an index of 32 to 64 bytes a call.

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

  // Starts an empty tree at `offset_bytes` of the file, which must outlive it.
  // Returns false if the disk is full.
  bool Begin(GrowingFile* file, CallTreeRecord* tree, size_t offset_bytes);

  // Returns the node of the innermost call of a stack; `calls` begins with the
  // innermost. If the tree is full, a stack gets the node of its outer calls.
  // When few nodes are left, the innermost calls of new stacks are left out.
  uint32_t FindNode(const uintptr_t* calls, int count);

  // Forgets which code lies at which address. Call it after an object was
  // unloaded, because another may be loaded at its addresses.
  void ForgetCode() { index_.Clear(); }

 private:
  // Returns the call's node; it is the `depth`th of its stack, counted from the
  // outermost.
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
