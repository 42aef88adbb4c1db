#include "footprint/profiling/heap/thread_tree.h"

#include <algorithm>

namespace footprint::profiling_internal {
namespace {

using InRegion = ThreadNode::InRegion;

RegionSet Bit(int region) { return RegionSet{1} << region; }

// Calls `visit` with each region of the set.
template <typename Visit>
void ForEach(RegionSet regions, Visit visit) {
  for (; regions != 0; regions &= regions - 1) {
    visit(__builtin_ctzll(regions));
  }
}

int64_t OwnBytes(const InRegion& own, int64_t live_bytes) {
  return own.joined_net_bytes + live_bytes - own.begin_live_bytes;
}

// Where the stretch of the creator's course that begins with the creation of
// `child` has its highest.
int64_t* HighestAfter(int region, ThreadNode* child) {
  return child->next_sibling != nullptr
             ? &child->next_sibling->in_region[region].creator_highest_bytes
             : &child->creator->in_region[region].highest_bytes;
}

// The stretches before and after the creation become one.
void JoinStretches(int region, ThreadNode* child) {
  int64_t* const after = HighestAfter(region, child);
  *after = std::max(*after, child->in_region[region].creator_highest_bytes);
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

// Whether the creator called between the child's creation and now.
bool CreatorCalledSince(int region, const ThreadNode& creator,
                        const ThreadNode& child) {
  return creator.activity > std::max(child.creator_activity,
                                     creator.in_region[region].begin_activity);
}

void JoinActivity(int region, ThreadNode* child) {
  ThreadNode* const creator = child->creator;
  if ((child->overlapping & Bit(region)) != 0) {
    creator->overlapping |= Bit(region);
  }
  if (!IsActive(region, *child)) return;
  creator->active |= Bit(region);
  if (CreatorCalledSince(region, *creator, *child) ||
      (child->sibling_active & Bit(region)) != 0) {
    creator->overlapping |= Bit(region);
  }
  for (ThreadNode* each = creator->first_child; each != nullptr;
       each = each->next_sibling) {
    if (each != child) each->sibling_active |= Bit(region);
  }
}

void JoinBytes(int region, ThreadNode* child) {
  ThreadNode* const creator = child->creator;
  InRegion& own = creator->in_region[region];
  const InRegion& joined = child->in_region[region];
  // It may have had its highest at any moment of its life.
  for (ThreadNode* each = child->next_sibling; each != nullptr;
       each = each->next_sibling) {
    each->in_region[region].creator_highest_bytes += joined.highest_bytes;
  }
  own.highest_bytes += joined.highest_bytes;
  JoinStretches(region, child);
  own.joined_net_bytes += OwnBytes(joined, child->live_bytes);
  own.highest_bytes =
      std::max(own.highest_bytes, OwnBytes(own, creator->live_bytes));
}

}  // namespace

void BeginRegion(int region, ThreadNode* node) {
  InRegion& own = node->in_region[region];
  own = InRegion();
  own.begin_live_bytes = node->live_bytes;
  own.begin_activity = node->activity;
  node->active &= ~Bit(region);
  node->overlapping &= ~Bit(region);
  node->sibling_active &= ~Bit(region);
}

void RaiseHighest(RegionSet open, int64_t live_bytes, ThreadNode* node) {
  ForEach(open, [&](int region) {
    InRegion& own = node->in_region[region];
    own.highest_bytes = std::max(own.highest_bytes, OwnBytes(own, live_bytes));
  });
}

void AddChild(RegionSet open, ThreadNode* creator, ThreadNode* child) {
  child->creator = creator;
  child->previous_sibling = creator->last_child;
  (creator->last_child != nullptr ? creator->last_child->next_sibling
                                  : creator->first_child) = child;
  creator->last_child = child;
  child->creator_activity = creator->activity;
  ForEach(open, [&](int region) {
    InRegion& own = creator->in_region[region];
    child->in_region[region].creator_highest_bytes = own.highest_bytes;
    own.highest_bytes = OwnBytes(own, creator->live_bytes);
  });
}

void JoinChild(RegionSet open, ThreadNode* child) {
  ForEach(open, [&](int region) {
    JoinActivity(region, child);
    JoinBytes(region, child);
  });
  Unlink(child);
}

void DetachChild(RegionSet open, ThreadNode* child) {
  ForEach(open, [&](int region) { JoinStretches(region, child); });
  Unlink(child);
}

int64_t HighestBytes(int region, const ThreadNode& node) {
  int64_t children_bytes = 0;
  int64_t highest_bytes = INT64_MIN;
  for (const ThreadNode* each = node.first_child; each != nullptr;
       each = each->next_sibling) {
    highest_bytes =
        std::max(highest_bytes, each->in_region[region].creator_highest_bytes +
                                    children_bytes);
    children_bytes += HighestBytes(region, *each);
  }
  return std::max(highest_bytes,
                  node.in_region[region].highest_bytes + children_bytes);
}

bool IsActive(int region, const ThreadNode& node) {
  if (node.activity != node.in_region[region].begin_activity ||
      (node.active & Bit(region)) != 0) {
    return true;
  }
  for (const ThreadNode* each = node.first_child; each != nullptr;
       each = each->next_sibling) {
    if (IsActive(region, *each)) return true;
  }
  return false;
}

bool Overlaps(int region, const ThreadNode& node) {
  if ((node.overlapping & Bit(region)) != 0) return true;
  int active_children = 0;
  for (const ThreadNode* each = node.first_child; each != nullptr;
       each = each->next_sibling) {
    if (!IsActive(region, *each)) continue;
    if (++active_children > 1 || CreatorCalledSince(region, node, *each) ||
        (each->sibling_active & Bit(region)) != 0 || Overlaps(region, *each)) {
      return true;
    }
  }
  return false;
}

}  // namespace footprint::profiling_internal
