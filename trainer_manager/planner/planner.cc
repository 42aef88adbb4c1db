#include "footprint/trainer_manager/planner/planner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "footprint/trainer_manager/planner/exact_search.h"
#include "footprint/trainer_manager/planner/hill_climb.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/ordered_placement.h"
#include "footprint/trainer_manager/planner/outward_sweep.h"
#include "footprint/trainer_manager/planner/placement_problem.h"
#include "footprint/trainer_manager/planner/plan_validator.h"

namespace footprint {
namespace {

using trainer_manager_internal::ClimbHill;
using trainer_manager_internal::CornerOrder;
using trainer_manager_internal::ExactSearch;
using trainer_manager_internal::HeightOf;
using trainer_manager_internal::HillClimbEffort;
using trainer_manager_internal::ItemOrder;
using trainer_manager_internal::MakePlacementProblem;
using trainer_manager_internal::OrderOf;
using trainer_manager_internal::PlaceByFirstFit;
using trainer_manager_internal::PlacementOrder;
using trainer_manager_internal::PlacementProblem;
using trainer_manager_internal::PlaceOutwards;
using trainer_manager_internal::PlaceSideBySide;
using trainer_manager_internal::SweepEffort;

// No one way of going first is best; which one is, differs from instance to
// instance by orders of magnitude. So they take turns, each with a little more
// effort than the last time.
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
};
constexpr size_t kStyleCount = sizeof(kSearchStyles) / sizeof(SearchStyle);
constexpr int64_t kFirstRoundNodes = 2000;

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...
int64_t LubyTerm(int64_t index) {
  int64_t length = 1;
  while (length < index) length = 2 * length + 1;
  while (index != length) {
    if (index > length / 2) index -= length / 2;
    length /= 2;
  }
  return (length + 1) / 2;
}

// One call of PlanMemory: the best plan so far and the bound so far.
class Planning {
 public:
  Planning(absl::Span<const TensorRequest> requests, const PlanOptions& options)
      : options_(options),
        problem_(MakePlacementProblem(requests)),
        deadline_(absl::Now() + options.time_limit) {
    plan_.lower_bound = ComputeLowerBound(requests);
    Offer(PlaceSideBySide(problem_), PlanMethod::kNaive);
  }

  void Run() {
    switch (options_.method) {
      case PlanMethod::kNaive:
        return;
      case PlanMethod::kFirstFit:
        return FirstFit(PlacementOrder::kByStart, PlanMethod::kFirstFit);
      case PlanMethod::kGreedyBySize:
        return FirstFit(PlacementOrder::kBySize, PlanMethod::kGreedyBySize);
      case PlanMethod::kHillClimb:
        return HillClimb();
      case PlanMethod::kExact:
        return Exact();
      case PlanMethod::kPortfolio:
        return Portfolio();
    }
  }

  MemoryPlan TakePlan() { return std::move(plan_); }

 private:
  bool MustOnlyFit() const {
    return options_.goal == PlanOptions::Goal::kFitCapacity;
  }

  bool IsDone() const {
    return plan_.height_bytes <= plan_.lower_bound.bytes ||
           plan_.lower_bound.bytes > options_.capacity_bytes ||
           (MustOnlyFit() && plan_.height_bytes <= options_.capacity_bytes);
  }

  void Offer(std::vector<int64_t> offsets, PlanMethod method) {
    const int64_t height = HeightOf(problem_, offsets);
    if (!plan_.offsets_bytes.empty() && height >= plan_.height_bytes) return;
    plan_.offsets_bytes = std::move(offsets);
    plan_.height_bytes = height;
    plan_.method = method;
  }

  void FirstFit(PlacementOrder order, PlanMethod method) {
    std::vector<int64_t> offsets =
        PlaceByFirstFit(problem_, OrderOf(problem_, order), deadline_);
    if (offsets.size() < problem_.items.size()) return;  // late
    Offer(std::move(offsets), method);
  }

  void HillClimb() {
    HillClimbEffort effort;
    effort.trial_limit = options_.trial_limit;
    effort.deadline = deadline_;
    effort.stop_at_height = plan_.lower_bound.bytes;
    if (MustOnlyFit()) {
      effort.stop_at_height =
          std::max(effort.stop_at_height, options_.capacity_bytes);
    }
    Offer(
        ClimbHill(problem_, OrderOf(problem_, PlacementOrder::kBySize), effort),
        PlanMethod::kHillClimb);
  }

  // Cheap before expensive.
  void Portfolio() {
    if (!IsDone()) Sweep();
    for (const PlacementOrder order :
         {PlacementOrder::kByLifespan, PlacementOrder::kBySize,
          PlacementOrder::kByArea, PlacementOrder::kByStart}) {
      if (IsDone() || absl::Now() > deadline_) return;
      FirstFit(order, PlanMethod::kPortfolio);
    }
    if (!IsDone()) Exact();
  }

  void Sweep() {
    SweepEffort effort;
    effort.target_height = plan_.lower_bound.bytes;
    effort.deadline = deadline_;
    if (MustOnlyFit()) effort.target_height = options_.capacity_bytes;
    std::vector<int64_t> offsets = PlaceOutwards(problem_, effort);
    if (offsets.empty()) return;
    Offer(std::move(offsets), PlanMethod::kPortfolio);
  }

  // Each style in turn: is there a plan that fits the capacity? If that is not
  // all that is asked: is there one as low as the bound, and one half-way
  // between the bound and the best? A "no" raises the bound, a "yes" lowers
  // the best.
  void Exact() {
    ExactSearch search(&problem_);
    for (int64_t round = 0; !IsDone() && !IsOver(search); ++round) {
      for (size_t style = 0; style < kStyleCount; ++style) {
        if (IsDone() || IsOver(search)) break;
        if (MustOnlyFit() || (round + style) % 3 == 0) {
          Try(&search, MiddleTarget(), round, style);
        }
        if (MustOnlyFit() || IsDone() || IsOver(search)) continue;
        Try(&search, plan_.lower_bound.bytes, round, style);
      }
    }
    plan_.search_nodes = search.node_count();
  }

  bool IsOver(const ExactSearch& search) const {
    return search.node_count() >= options_.node_limit ||
           absl::Now() > deadline_;
  }

  int64_t MiddleTarget() const {
    if (plan_.height_bytes > options_.capacity_bytes) {
      return options_.capacity_bytes;
    }
    const int64_t lowest = plan_.lower_bound.bytes;
    return lowest + (plan_.height_bytes - 1 - lowest) / 2;
  }

  void Try(ExactSearch* search, int64_t target, int64_t round, size_t style) {
    ExactSearch::Effort effort;
    effort.node_limit = std::min(kFirstRoundNodes * LubyTerm(round + 1),
                                 options_.node_limit - search->node_count());
    effort.deadline = deadline_;
    effort.corner_order = kSearchStyles[style].corner_order;
    effort.item_order = kSearchStyles[style].item_order;
    effort.seed = static_cast<uint64_t>(round);
    switch (search->Search(target, effort)) {
      case ExactSearch::Outcome::kFound:
        return Offer(search->offsets(), PlanMethod::kExact);
      case ExactSearch::Outcome::kInfeasible:
        plan_.lower_bound.bytes = target + 1;
        plan_.lower_bound.kind = LowerBound::Kind::kExhaustiveSearch;
        return;
      case ExactSearch::Outcome::kGaveUp:
        return;
    }
  }

  const PlanOptions& options_;
  const PlacementProblem problem_;
  const absl::Time deadline_;
  MemoryPlan plan_;
};

absl::Status CheckOptions(const PlanOptions& options) {
  if (options.capacity_bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a capacity of ", options.capacity_bytes, " bytes; give at least 0"));
  }
  const int64_t alignment = options.alignment_bytes;
  if (alignment < 1 || (alignment & (alignment - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an alignment of ", alignment, " bytes; it must be a power of two"));
  }
  return absl::OkStatus();
}

// What may find a plan that this method did not find.
absl::string_view NextStepAfter(PlanMethod method) {
  switch (method) {
    case PlanMethod::kPortfolio:
      return "raise the node limit or the time limit";
    case PlanMethod::kExact:
      return "raise the node limit or the time limit, or use the method "
             "portfolio";
    default:
      return "use the method portfolio";
  }
}

absl::Status OverCapacity(const MemoryPlan& plan, const PlanOptions& options) {
  const int64_t capacity_bytes = options.capacity_bytes;
  if (plan.lower_bound.bytes > capacity_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no plan fits ", capacity_bytes, " bytes: the minimum is ",
        plan.IsProvedMinimal() ? "" : "at least ", plan.lower_bound.bytes,
        " bytes, needed at step ", plan.lower_bound.step));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "no plan of at most ", capacity_bytes, " bytes was found, the best has ",
      plan.height_bytes, "; one may exist, as ", plan.lower_bound.bytes,
      " is the lower bound: ", NextStepAfter(options.method)));
}

}  // namespace

absl::StatusOr<MemoryPlan> PlanMemory(absl::Span<const TensorRequest> requests,
                                      const PlanOptions& options) {
  absl::Status status = CheckOptions(options);
  if (!status.ok()) return status;
  std::vector<TensorRequest> aligned;
  if (options.alignment_bytes > 1) {
    aligned.assign(requests.begin(), requests.end());
    for (TensorRequest& request : aligned) {
      request.alignment_bytes =
          std::max(request.alignment_bytes, options.alignment_bytes);
    }
    requests = aligned;
  }
  status = CheckRequests(requests);
  if (!status.ok()) return status;
  Planning planning(requests, options);
  planning.Run();
  MemoryPlan plan = planning.TakePlan();
  status = ValidatePlan(requests, plan);
  if (!status.ok()) {
    return absl::InternalError(absl::StrCat(
        "a defect of the planner, please report it: ", status.message()));
  }
  if (plan.height_bytes > options.capacity_bytes) {
    return OverCapacity(plan, options);
  }
  return plan;
}

}  // namespace footprint
