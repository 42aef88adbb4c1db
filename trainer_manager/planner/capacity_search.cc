#include "footprint/trainer_manager/planner/capacity_search.h"

#include <algorithm>
#include <cstddef>

namespace footprint {
namespace trainer_manager_internal {
namespace {

using Outcome = ExactSearch::Outcome;

struct SearchStyle {
  CornerOrder corner_order;
  ItemOrder item_order;
};
constexpr SearchStyle kSearchStyles[] = {
    {CornerOrder::kForcedThenFirst, ItemOrder::kByArea},
    {CornerOrder::kFewestThenTightest, ItemOrder::kByLifespan},
    {CornerOrder::kForcedThenLast, ItemOrder::kByLifespan},
    {CornerOrder::kFewestThenLowest, ItemOrder::kByArea},
    {CornerOrder::kForcedThenLowest, ItemOrder::kByLifespan},
    {CornerOrder::kForcedThenFirst, ItemOrder::kByLifespan},
    {CornerOrder::kFewestThenTightest, ItemOrder::kByArea},
    {CornerOrder::kFewestThenLowest, ItemOrder::kBySize},
};
constexpr int64_t kStyleCount =
    static_cast<int64_t>(sizeof(kSearchStyles) / sizeof(SearchStyle));
static_assert(CapacitySearch::kTurnsOfARound == 2 * kStyleCount,
              "each style has a turn at the problem, and one merged");
constexpr int64_t kFirstRoundNodes = 2000;
// Merging does not help if a larger share of the items remains.
constexpr double kMostToKeep = 0.9;

// Returns a term of Luby's sequence: 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...
int64_t LubyTerm(int64_t index) {
  int64_t length = 1;
  while (length < index) length = 2 * length + 1;
  while (index != length) {
    if (index > length / 2) index -= length / 2;
    length /= 2;
  }
  return (length + 1) / 2;
}

}  // namespace

Outcome CapacitySearch::Try(int64_t capacity, int64_t turn,
                            const Effort& effort) {
  // If nothing can be merged, the original problem gets all turns.
  const bool merges = turn % 2 == 1 && Merged(0) != nullptr;
  if (!can_merge_) turn *= 2;
  const int64_t round = turn / kTurnsOfARound;
  const SearchStyle& style = kSearchStyles[turn / 2 % kStyleCount];
  ExactSearch::Effort search_effort;
  search_effort.node_limit =
      std::min(kFirstRoundNodes * LubyTerm(round + 1), effort.node_limit);
  search_effort.deadline = effort.deadline;
  search_effort.corner_order = style.corner_order;
  search_effort.item_order = style.item_order;
  search_effort.seed = static_cast<uint64_t>(round);
  if (!merges) return TryAll(capacity, search_effort);
  // Alternates between merging all items and merging a part of them.
  const uint64_t seed = round % 2 == 0 ? 0 : static_cast<uint64_t>(round);
  return TryMerged(capacity, seed, search_effort);
}

CapacitySearch::MergedSearch* CapacitySearch::Merged(uint64_t seed) {
  if (merged_ == nullptr && can_merge_) {
    merged_ = std::make_unique<MergedSearch>(*problem_, 0);
    can_merge_ = merged_->items.problem().items.size() <=
                 problem_->items.size() * kMostToKeep;
    if (!can_merge_) merged_ = nullptr;
  }
  if (seed == 0 || !can_merge_) return merged_.get();
  if (partly_merged_ == nullptr || partly_merged_seed_ != seed) {
    partly_merged_ = nullptr;  // frees its memory before the next one
    partly_merged_ = std::make_unique<MergedSearch>(*problem_, seed);
    partly_merged_seed_ = seed;
  }
  return partly_merged_.get();
}

Outcome CapacitySearch::TryMerged(int64_t capacity, uint64_t seed,
                                  const ExactSearch::Effort& effort) {
  MergedSearch* merged = Merged(seed);
  if (merged == nullptr || capacity <= merged->infeasible_bytes) {
    return Outcome::kGaveUp;
  }
  const int64_t before = merged->search.node_count();
  const Outcome outcome = merged->search.Search(capacity, effort);
  node_count_ += merged->search.node_count() - before;
  if (outcome == Outcome::kFound) {
    offsets_ = merged->items.OffsetsOfItems(merged->search.offsets());
    return outcome;
  }
  if (outcome == Outcome::kInfeasible) merged->infeasible_bytes = capacity;
  return Outcome::kGaveUp;
}

Outcome CapacitySearch::TryAll(int64_t capacity,
                               const ExactSearch::Effort& effort) {
  if (search_ == nullptr) search_ = std::make_unique<ExactSearch>(problem_);
  const int64_t before = search_->node_count();
  const Outcome outcome = search_->Search(capacity, effort);
  node_count_ += search_->node_count() - before;
  if (outcome == Outcome::kFound) offsets_ = search_->offsets();
  return outcome;
}

}  // namespace trainer_manager_internal
}  // namespace footprint
