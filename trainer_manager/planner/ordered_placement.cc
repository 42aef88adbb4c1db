#include "footprint/trainer_manager/planner/ordered_placement.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/time/clock.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

constexpr size_t kItemsBetweenClocks = 256;

// An item with its place in the arena.
struct PlacedItem {
  int64_t offset, top;
  int32_t begin, end;
};

}  // namespace

std::vector<int32_t> SortItems(const PlacementProblem& problem,
                               PlacementOrder order) {
  std::vector<int32_t> result(problem.items.size());
  std::iota(result.begin(), result.end(), 0);
  const auto key = [&](int32_t index) {
    const PlacementItem& item = problem.items[index];
    const double size = static_cast<double>(item.size);
    const double sections = item.end - item.begin;
    switch (order) {
      case PlacementOrder::kByStart:
        return std::make_tuple(static_cast<double>(item.begin), -sections,
                               -size);
      case PlacementOrder::kBySize:
        return std::make_tuple(-size, -sections, 0.0);
      case PlacementOrder::kByLifespan:
        return std::make_tuple(-sections, -size, 0.0);
      case PlacementOrder::kByArea:
        return std::make_tuple(-size * sections, -sections, -size);
    }
    return std::make_tuple(0.0, 0.0, 0.0);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](int32_t a, int32_t b) { return key(a) < key(b); });
  return result;
}

std::vector<int64_t> PlaceSideBySide(const PlacementProblem& problem) {
  std::vector<int64_t> offsets;
  offsets.reserve(problem.items.size());
  int64_t top = 0;
  for (const PlacementItem& item : problem.items) {
    offsets.push_back(AlignUp(top, item.alignment));
    top = offsets.back() + item.size;
  }
  return offsets;
}

std::vector<int64_t> PlaceByFirstFit(const PlacementProblem& problem,
                                     absl::Span<const int32_t> order,
                                     absl::Time deadline) {
  std::vector<int64_t> offsets(problem.items.size(), 0);
  std::vector<PlacedItem> placed;  // by offset
  placed.reserve(order.size());
  for (const int32_t index : order) {
    if (placed.size() % kItemsBetweenClocks == kItemsBetweenClocks - 1 &&
        absl::Now() > deadline) {
      return {};
    }
    const PlacementItem& item = problem.items[index];
    int64_t offset = 0;
    auto next = placed.begin();
    for (; next != placed.end(); ++next) {
      if (next->begin >= item.end || item.begin >= next->end) continue;
      if (offset + item.size <= next->offset) break;
      offset = std::max(offset, AlignUp(next->top, item.alignment));
    }
    offsets[index] = offset;
    const PlacedItem now = {offset, offset + item.size, item.begin, item.end};
    // Items that were passed lie lower or in other sections.
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), now,
                         [](const PlacedItem& a, const PlacedItem& b) {
                           return a.offset < b.offset;
                         }),
        now);
  }
  return offsets;
}

}  // namespace trainer_manager_internal
}  // namespace footprint
