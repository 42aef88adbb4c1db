#include "footprint/profiling/heap/thread_tree.h"

#include <algorithm>

namespace footprint::profiling_internal {
namespace {

using InPhase = ThreadNode::InPhase;

PhaseSet Bit(int phase) { return PhaseSet{1} << phase; }

// Calls `visit` with each phase of the set.
template <typename Visit>
void ForEach(PhaseSet phases, Visit visit) {
  for (; phases != 0; phases &= phases - 1) {
    visit(__builtin_ctzll(phases));
  }
}

int64_t OwnBytes(const InPhase& own, int64_t live_bytes) {
  return own.joined_net_bytes + live_bytes - own.begin_live_bytes;
}

// Returns where to store the highest net bytes of the creator's segment that
// begins with the creation of `child`.
int64_t* HighestAfter(int phase, ThreadNode* child) {
  return child->next_sibling != nullptr
             ? &child->next_sibling->in_phase[phase].creator_highest_net_bytes
             : &child->creator->in_phase[phase].highest_net_bytes;
}

// Merges the creator's segments before and after the creation of `child`.
void MergeSegments(int phase, ThreadNode* child) {
  int64_t* const after = HighestAfter(phase, child);
  *after = std::max(*after, child->in_phase[phase].creator_highest_net_bytes);
}

void Unlink(ThreadNode* child) {
  ThreadNode* const creator = child->creator;
  (child->previous_sibling != nullptr ? child->previous_sibling->next_sibling
                                      : creator->first_child) =
      child->next_sibling;
  (child->next_sibling != nullptr ? child->next_sibling->previous_sibling
                                  : creator->last_child) =
      child->previous_sibling;
  child->creator = child->previous_sibling = child->next_sibling = nullptr;
}

// Returns whether the creator called between the child's creation and now.
bool CreatorCalledSince(int phase, const ThreadNode& creator,
                        const ThreadNode& child) {
  return creator.activity > std::max(child.creator_activity,
                                     creator.in_phase[phase].begin_activity);
}

void JoinActivity(int phase, ThreadNode* child) {
  ThreadNode* const creator = child->creator;
  if ((child->overlapping & Bit(phase)) != 0) {
    creator->overlapping |= Bit(phase);
  }
  if (!IsActive(phase, *child)) return;
  creator->active |= Bit(phase);
  if (CreatorCalledSince(phase, *creator, *child) ||
      (child->sibling_active & Bit(phase)) != 0) {
    creator->overlapping |= Bit(phase);
  }
  for (ThreadNode* each = creator->first_child; each != nullptr;
       each = each->next_sibling) {
    if (each != child) each->sibling_active |= Bit(phase);
  }
}

void JoinBytes(int phase, ThreadNode* child) {
  ThreadNode* const creator = child->creator;
  InPhase& own = creator->in_phase[phase];
  const InPhase& joined = child->in_phase[phase];
  // The child may have had its highest value at any moment of its life.
  for (ThreadNode* each = child->next_sibling; each != nullptr;
       each = each->next_sibling) {
    each->in_phase[phase].creator_highest_net_bytes += joined.highest_net_bytes;
  }
  own.highest_net_bytes += joined.highest_net_bytes;
  MergeSegments(phase, child);
  own.joined_net_bytes += OwnBytes(joined, child->live_bytes);
  own.highest_net_bytes =
      std::max(own.highest_net_bytes, OwnBytes(own, creator->live_bytes));
}

}  // namespace

void BeginPhase(int phase, ThreadNode* node) {
  InPhase& own = node->in_phase[phase];
  own = InPhase();
  own.begin_live_bytes = node->live_bytes;
  own.begin_activity = node->activity;
  node->active &= ~Bit(phase);
  node->overlapping &= ~Bit(phase);
  node->sibling_active &= ~Bit(phase);
}

void RaiseHighest(PhaseSet open, int64_t live_bytes, ThreadNode* node) {
  ForEach(open, [&](int phase) {
    InPhase& own = node->in_phase[phase];
    own.highest_net_bytes =
        std::max(own.highest_net_bytes, OwnBytes(own, live_bytes));
  });
}

void AddChild(PhaseSet open, ThreadNode* creator, ThreadNode* child) {
  child->creator = creator;
  child->previous_sibling = creator->last_child;
  (creator->last_child != nullptr ? creator->last_child->next_sibling
                                  : creator->first_child) = child;
  creator->last_child = child;
  child->creator_activity = creator->activity;
  ForEach(open, [&](int phase) {
    InPhase& own = creator->in_phase[phase];
    child->in_phase[phase].creator_highest_net_bytes = own.highest_net_bytes;
    own.highest_net_bytes = OwnBytes(own, creator->live_bytes);
  });
}

void JoinChild(PhaseSet open, ThreadNode* child) {
  ForEach(open, [&](int phase) {
    JoinActivity(phase, child);
    JoinBytes(phase, child);
  });
  Unlink(child);
}

void DetachChild(PhaseSet open, ThreadNode* child) {
  ForEach(open, [&](int phase) { MergeSegments(phase, child); });
  Unlink(child);
}

int64_t HighestNetBytes(int phase, const ThreadNode& node) {
  int64_t children_bytes = 0;
  int64_t highest_net_bytes = INT64_MIN;
  for (const ThreadNode* each = node.first_child; each != nullptr;
       each = each->next_sibling) {
    highest_net_bytes = std::max(
        highest_net_bytes,
        each->in_phase[phase].creator_highest_net_bytes + children_bytes);
    children_bytes += HighestNetBytes(phase, *each);
  }
  return std::max(highest_net_bytes,
                  node.in_phase[phase].highest_net_bytes + children_bytes);
}

bool IsActive(int phase, const ThreadNode& node) {
  if (node.activity != node.in_phase[phase].begin_activity ||
      (node.active & Bit(phase)) != 0) {
    return true;
  }
  for (const ThreadNode* each = node.first_child; each != nullptr;
       each = each->next_sibling) {
    if (IsActive(phase, *each)) return true;
  }
  return false;
}

bool Overlaps(int phase, const ThreadNode& node) {
  if ((node.overlapping & Bit(phase)) != 0) return true;
  int active_children = 0;
  for (const ThreadNode* each = node.first_child; each != nullptr;
       each = each->next_sibling) {
    if (!IsActive(phase, *each)) continue;
    if (++active_children > 1 || CreatorCalledSince(phase, node, *each) ||
        (each->sibling_active & Bit(phase)) != 0 || Overlaps(phase, *each)) {
      return true;
    }
  }
  return false;
}

}  // namespace footprint::profiling_internal
