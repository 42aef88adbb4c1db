#include "footprint/trainer_manager/planner/beam_sweep.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

// A visit of this many tensors costs about as much as a node of the exact
// search.
constexpr int64_t kPlacesOfANode = 64;

uint64_t HashPlacedItem(int32_t item, int64_t offset) {
  return RandomAt(static_cast<uint64_t>(item) + 1,
                  static_cast<uint64_t>(offset));
}

}  // namespace

BeamSweep::BeamSweep(const PlacementProblem* problem)
    : problem_(problem), fullest_(FullestSection(*problem)) {
  ListEvents();
}

// Lists the tensors nearest to the fullest section first, in both directions.
void BeamSweep::ListEvents() {
  for (size_t i = 0; i < problem_->items.size(); ++i) {
    const PlacementItem& item = problem_->items[i];
    const auto index = static_cast<int32_t>(i);
    if (item.begin > fullest_) {
      events_.push_back(
          {index, true, item.begin - fullest_, item.end - fullest_});
    } else if (item.end <= fullest_) {
      events_.push_back(
          {index, false, fullest_ + 1 - item.end, fullest_ + 1 - item.begin});
    } else {
      stack_.push_back(index);
    }
  }
  const auto key = [this](const Event& event) {
    return std::make_tuple(event.begins, !event.is_forwards,
                           -problem_->items[event.item].size, -event.ends,
                           event.item);
  };
  std::sort(events_.begin(), events_.end(),
            [&key](const Event& a, const Event& b) { return key(a) < key(b); });
}

int64_t BeamSweep::NodesOfAPlan() const {
  return static_cast<int64_t>(events_.size()) *
         (1 + static_cast<int64_t>(stack_.size()) / kPlacesOfANode);
}

bool BeamSweep::Run(const Effort& effort) {
  effort_ = effort;
  random_ = RandomSequence(effort.seed);
  choices_.clear();
  const int64_t nodes_at_end = node_count_ + effort.node_limit;
  BeginPlans();
  for (const Event& event : events_) {
    if (plans_.empty() || !GoOn(event)) return false;
    if (node_count_ >= nodes_at_end || absl::Now() > effort.deadline) {
      node_count_ = std::min(node_count_, nodes_at_end);
      return false;
    }
  }
  if (plans_.empty()) return false;
  TakeOffsets();
  return true;
}

// Stacks the tensors of the fullest section, roughly with the longest-lived
// lowest.
void BeamSweep::BeginPlans() {
  plans_.clear();
  for (int64_t i = 0; i < effort_.width; ++i) {
    std::vector<std::pair<double, int32_t>> order;
    for (const int32_t index : stack_) {
      const PlacementItem& item = problem_->items[index];
      double sections = item.end - item.begin;
      if (i % 3 == 1) sections = item.end - fullest_;
      if (i % 3 == 2) sections = fullest_ + 1 - item.begin;
      if (i > 2) sections *= 1 + 0.3 * random_.Uniform();
      order.push_back({-sections, index});
    }
    std::sort(order.begin(), order.end());
    Plan plan;
    plan.last_choice = kNone;
    plan.hash = 0;
    int64_t top = 0;
    for (const auto& [key, index] : order) {
      const PlacementItem& item = problem_->items[index];
      const int64_t offset = AlignUp(top, item.alignment);
      top = offset + item.size;
      plan.fronts[0].push_back({offset, top, fullest_ + 1 - item.begin});
      plan.fronts[1].push_back({offset, top, item.end - fullest_});
      choices_.push_back({plan.last_choice, index, offset});
      plan.last_choice = static_cast<int32_t>(choices_.size()) - 1;
      plan.hash ^= HashPlacedItem(index, offset);
    }
    if (top <= effort_.height_limit) plans_.push_back(std::move(plan));
  }
}

// Places the event's tensor. Returns false if no plan has room for it.
bool BeamSweep::GoOn(const Event& event) {
  candidates_.clear();
  for (size_t p = 0; p < plans_.size(); ++p) {
    ListCandidates(event, static_cast<int32_t>(p));
  }
  Keep(event);
  return !plans_.empty();
}

// Returns for how many sections from `now` on there will be a gap between a
// tensor and the one above it.
double BeamSweep::Cost(int32_t lower_end, int64_t gap_bytes, int32_t upper_end,
                       int32_t now) const {
  const int32_t closed_until = gap_bytes > 0 ? now : std::max(now, upper_end);
  return std::max(0, lower_end - closed_until);
}

void BeamSweep::ListCandidates(const Event& event, int32_t plan) {
  const PlacementItem& item = problem_->items[event.item];
  const int32_t now = event.begins;
  // The floor and the limit never end.
  const int32_t last = problem_->section_count() + 1;
  Front& front = plans_[plan].fronts[event.is_forwards];
  front.erase(
      std::remove_if(front.begin(), front.end(),
                     [now](const Place& place) { return place.ends <= now; }),
      front.end());
  node_count_ += 1 + static_cast<int64_t>(front.size()) / kPlacesOfANode;
  const size_t first = candidates_.size();
  double cost = 0;
  Place below = {0, 0, last};
  for (size_t gap = 0; gap <= front.size(); ++gap) {
    const Place above =
        gap < front.size() ? front[gap] : Place{effort_.height_limit, 0, last};
    const double old_cost =
        Cost(below.ends, above.low - below.high, above.ends, now);
    cost += old_cost;
    const int64_t lowest = AlignUp(below.high, item.alignment);
    const int64_t highest = (above.low - item.size) & ~(item.alignment - 1);
    for (const int64_t offset : {lowest, highest}) {
      if (offset < lowest || offset > highest) continue;
      candidates_.push_back(
          {Cost(below.ends, offset - below.high, event.ends, now) +
               Cost(event.ends, above.low - offset - item.size, above.ends,
                    now) -
               old_cost,
           plans_[plan].hash ^ HashPlacedItem(event.item, offset), plan,
           static_cast<int32_t>(gap), offset});
      if (lowest == highest) break;
    }
    below = above;
  }
  for (size_t i = first; i < candidates_.size(); ++i) {
    candidates_[i].cost =
        (candidates_[i].cost + cost) * (1 + 0.02 * random_.Uniform());
  }
}

// Makes the best candidates the next plans.
void BeamSweep::Keep(const Event& event) {
  const auto count =
      std::min(candidates_.size(), static_cast<size_t>(2 * effort_.width));
  std::partial_sort(
      candidates_.begin(), candidates_.begin() + count, candidates_.end(),
      [](const Candidate& a, const Candidate& b) {
        return std::tie(a.cost, a.hash) < std::tie(b.cost, b.hash);
      });
  const int64_t size = problem_->items[event.item].size;
  absl::flat_hash_set<uint64_t> seen;
  next_plans_.clear();
  for (size_t i = 0; i < count; ++i) {
    const Candidate& candidate = candidates_[i];
    if (static_cast<int64_t>(next_plans_.size()) == effort_.width) break;
    if (!seen.insert(candidate.hash).second) continue;
    next_plans_.push_back(plans_[candidate.plan]);
    Plan& plan = next_plans_.back();
    Front& front = plan.fronts[event.is_forwards];
    front.insert(front.begin() + candidate.gap,
                 {candidate.offset, candidate.offset + size, event.ends});
    choices_.push_back({plan.last_choice, event.item, candidate.offset});
    plan.last_choice = static_cast<int32_t>(choices_.size()) - 1;
    plan.hash = candidate.hash;
  }
  plans_.swap(next_plans_);
}

void BeamSweep::TakeOffsets() {
  offsets_.assign(problem_->items.size(), 0);
  for (int32_t c = plans_[0].last_choice; c != kNone;
       c = choices_[c].previous) {
    offsets_[choices_[c].item] = choices_[c].offset;
  }
}

}  // namespace trainer_manager_internal
}  // namespace footprint
