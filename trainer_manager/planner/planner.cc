#include "footprint/trainer_manager/planner/planner.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "footprint/trainer_manager/planner/beam_sweep.h"
#include "footprint/trainer_manager/planner/capacity_search.h"
#include "footprint/trainer_manager/planner/exact_search.h"
#include "footprint/trainer_manager/planner/hill_climb.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/ordered_placement.h"
#include "footprint/trainer_manager/planner/outward_sweep.h"
#include "footprint/trainer_manager/planner/placement_problem.h"
#include "footprint/trainer_manager/planner/plan_validator.h"

namespace footprint {
namespace {

using trainer_manager_internal::BeamSweep;
using trainer_manager_internal::CapacitySearch;
using trainer_manager_internal::ClimbHill;
using trainer_manager_internal::ComputeHeight;
using trainer_manager_internal::ExactSearch;
using trainer_manager_internal::HillClimbEffort;
using trainer_manager_internal::MakePlacementProblem;
using trainer_manager_internal::PlaceByFirstFit;
using trainer_manager_internal::PlacementOrder;
using trainer_manager_internal::PlacementProblem;
using trainer_manager_internal::PlaceOutwards;
using trainer_manager_internal::PlaceSideBySide;
using trainer_manager_internal::SortItems;
using trainer_manager_internal::SweepEffort;

// The turns of the exact search before the sweeps get their share.
constexpr int64_t kTurnsBeforeBeams = 1;
constexpr int64_t kFirstBeamWidth = 16;
constexpr int64_t kLeastBeamWidth = 4;
// The nodes that an outward sweep counts for each tensor.
constexpr int64_t kNodesOfASweep = 16;

// Chooses the height to ask for between the bound and the best plan so far. It
// starts half-way down. After a plan was found the next step is twice as large;
// after some failures in a row it is half as large, but at least `least_share`
// of the way, since smaller steps succeed easily and gain little.
class WayDown {
 public:
  explicit WayDown(int64_t patience) : patience_(patience) {}

  int64_t Target(int64_t lowest, int64_t highest) const {
    return highest -
           static_cast<int64_t>(static_cast<double>(highest - lowest) * share_);
  }

  // Takes the result of a step. The next one covers at least `least_share` of
  // the way.
  void Hear(bool found, double least_share) {
    if (found) {
      share_ = std::min(0.75, 2 * share_);
      in_vain_ = 0;
    } else if (++in_vain_ == patience_) {
      share_ = std::max(least_share, share_ / 2);
      in_vain_ = 0;
    }
  }

 private:
  const int64_t patience_;
  int64_t in_vain_ = 0;
  double share_ = 0.5;
};

// One call of PlanMemory, with the best plan and the best bound so far.
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
        return Exact(/*with_sweeps=*/false);
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
    const int64_t height = ComputeHeight(problem_, offsets);
    if (!plan_.offsets_bytes.empty() && height >= plan_.height_bytes) return;
    plan_.offsets_bytes = std::move(offsets);
    plan_.height_bytes = height;
    plan_.method = method;
  }

  void FirstFit(PlacementOrder order, PlanMethod method) {
    std::vector<int64_t> offsets =
        PlaceByFirstFit(problem_, SortItems(problem_, order), deadline_);
    if (offsets.size() < problem_.items.size()) return;  // the deadline passed
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
    Offer(ClimbHill(problem_, SortItems(problem_, PlacementOrder::kBySize),
                    effort),
          PlanMethod::kHillClimb);
  }

  // Tries cheap methods before expensive ones.
  void Portfolio() {
    if (!IsDone()) Sweep(/*seed=*/1);
    for (const PlacementOrder order :
         {PlacementOrder::kByLifespan, PlacementOrder::kBySize,
          PlacementOrder::kByArea, PlacementOrder::kByStart}) {
      if (IsDone() || absl::Now() > deadline_) return;
      FirstFit(order, PlanMethod::kPortfolio);
    }
    if (!IsDone()) Exact(/*with_sweeps=*/true);
  }

  void Sweep(uint64_t seed) {
    SweepEffort effort;
    effort.target_height = plan_.lower_bound.bytes;
    effort.deadline = deadline_;
    effort.seed = seed;
    if (MustOnlyFit()) effort.target_height = options_.capacity_bytes;
    std::vector<int64_t> offsets = PlaceOutwards(problem_, effort);
    if (offsets.empty()) return;
    Offer(std::move(offsets), PlanMethod::kPortfolio);
  }

  // Alternately asks for a plan as low as the bound, and for one between the
  // bound and the best plan. A proof that there is none raises the bound; a
  // plan becomes the best one. With kFitCapacity it only asks for the capacity.
  // With sweeps, these take half of the nodes.
  void Exact(bool with_sweeps) {
    CapacitySearch search(&problem_);
    std::optional<BeamSweep> beam;
    int64_t beam_turn = 0;
    int64_t way_turn = 0;
    for (int64_t turn = 0; !IsOver(); ++turn) {
      const bool is_late = !MustOnlyFit() && IsLate();
      if (!is_late || turn % 3 == 2) AskSearch(LowestTarget(), turn, &search);
      if (!MustOnlyFit() && !IsOver() && (is_late || turn % 3 == 2)) {
        search_way_down_.Hear(
            AskSearch(
                search_way_down_.Target(LowestTarget(), plan_.height_bytes - 1),
                way_turn++, &search),
            LeastShare());
      }
      if (!with_sweeps || turn < kTurnsBeforeBeams) continue;
      if (!beam.has_value()) beam.emplace(&problem_);
      while (!IsOver() && sweep_nodes_ < plan_.search_nodes / 2) {
        SweepAgain(beam_turn++, &*beam);
      }
    }
  }

  bool IsOver() const {
    return IsDone() || plan_.search_nodes >= options_.node_limit ||
           absl::Now() > deadline_;
  }

  // Small steps succeed easily and gain little. They wait for the second half
  // of the nodes and for a plan near the bound.
  double LeastShare() const { return IsLate() ? 1.0 / 16 : 0.25; }
  bool IsLate() const {
    return plan_.search_nodes >= options_.node_limit / 2 &&
           plan_.height_bytes - plan_.lower_bound.bytes <
               plan_.lower_bound.bytes / 8;
  }

  int64_t NodesLeft() const { return options_.node_limit - plan_.search_nodes; }

  int64_t LowestTarget() const {
    return MustOnlyFit() ? options_.capacity_bytes : plan_.lower_bound.bytes;
  }

  // Returns whether the search found a plan.
  bool AskSearch(int64_t target, int64_t turn, CapacitySearch* search) {
    CapacitySearch::Effort effort;
    effort.node_limit = NodesLeft();
    effort.deadline = deadline_;
    const int64_t nodes_before = search->node_count();
    const ExactSearch::Outcome outcome = search->Try(target, turn, effort);
    plan_.search_nodes += search->node_count() - nodes_before;
    if (outcome == ExactSearch::Outcome::kFound) {
      Offer(search->offsets(), PlanMethod::kExact);
    } else if (outcome == ExactSearch::Outcome::kInfeasible) {
      plan_.lower_bound.bytes = target + 1;
      plan_.lower_bound.kind = LowerBound::Kind::kExhaustiveSearch;
    }
    return outcome == ExactSearch::Outcome::kFound;
  }

  // Alternates between a single sweep with other random numbers and many plans
  // side by side, which aim at the bound or at a height above it.
  void SweepAgain(int64_t turn, BeamSweep* beam) {
    const int64_t nodes_before = plan_.search_nodes;
    if (turn % 3 == 0) {
      Sweep(/*seed=*/static_cast<uint64_t>(turn) + 2);
      plan_.search_nodes += std::min(NodesLeft(), kNodesOfASweep * ItemCount());
    } else if (turn % 3 == 1) {
      AskBeam(LowestTarget(), turn / 3, beam);
    } else if (!MustOnlyFit()) {
      beam_way_down_.Hear(
          AskBeam(beam_way_down_.Target(LowestTarget(), plan_.height_bytes - 1),
                  turn / 3, beam),
          LeastShare());
    }
    sweep_nodes_ += plan_.search_nodes - nodes_before;
  }

  // Returns whether the sweep found a plan.
  bool AskBeam(int64_t target, int64_t round, BeamSweep* beam) {
    BeamSweep::Effort effort;
    effort.height_limit = target;
    effort.width = std::min(kFirstBeamWidth << std::min<int64_t>(round, 4),
                            NodesLeft() / (1 + beam->NodesOfAPlan()));
    effort.seed = static_cast<uint64_t>(round) + 1;
    effort.node_limit = NodesLeft();
    effort.deadline = deadline_;
    if (effort.width < kLeastBeamWidth) return false;
    const int64_t nodes_before = beam->node_count();
    const bool found = beam->Run(effort);
    plan_.search_nodes += beam->node_count() - nodes_before;
    if (found) Offer(beam->offsets(), PlanMethod::kPortfolio);
    return found;
  }

  int64_t ItemCount() const {
    return static_cast<int64_t>(problem_.items.size());
  }

  const PlanOptions& options_;
  const PlacementProblem problem_;
  const absl::Time deadline_;
  MemoryPlan plan_;
  WayDown search_way_down_{CapacitySearch::kTurnsOfARound};
  WayDown beam_way_down_{1};
  int64_t sweep_nodes_ = 0;
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

// Returns advice on what may find a plan that this method did not find.
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
        plan.lower_bound.kind == LowerBound::Kind::kExhaustiveSearch
            ? " bytes, as a search of all plans proved; most is live at step "
            : " bytes, needed at step ",
        plan.lower_bound.step));
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
