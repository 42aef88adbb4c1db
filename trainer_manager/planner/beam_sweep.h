// Grows many plans side by side, outwards from the fullest section.
//
//   BeamSweep sweep(&problem);
//   BeamSweep::Effort effort;
//   effort.height_limit = capacity;
//   if (sweep.Run(effort)) Use(sweep.offsets());
//
// The outward sweep (outward_sweep.h) places tensors as they begin, section by
// section, and never takes a choice back. This sweep tries each tensor at both
// ends of each gap in each of its plans, and keeps the plans that leave the
// least fragmentation. The cost of a plan is a sum over all tensors and the
// floor: for how many sections free bytes will lie right above each, as far as
// is known. If two tensors touch, these are the sections from the end of the
// upper one to that of the lower one. If bytes are free between them, these are
// all sections to the end of the lower one.
//
// If lifespans are short compared to the whole, the stack of the fullest
// section does not decide the rest. There this sweep finds plans near the bound
// that single sweeps and the exact search miss.
//
// Equal calls give equal plans unless the deadline passes. Thread-compatible;
// keeps a pointer to the problem. Memory: about 160 bytes for each plan and
// each tensor live in one section, before vectors round up, and 16 for each
// plan and tensor. Time: O(w n l log w) with w plans, n tensors and l tensors
// live together.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_BEAM_SWEEP_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_BEAM_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

class BeamSweep {
 public:
  struct Effort {
    int64_t height_limit = 0;
    int64_t width = 32;  // plans side by side
    uint64_t seed = 1;
    int64_t node_limit = 1'000'000;
    absl::Time deadline = absl::InfiniteFuture();
  };

  explicit BeamSweep(const PlacementProblem* problem);

  // Returns roughly the most nodes that a call takes for each of its plans.
  int64_t NodesOfAPlan() const;

  // Returns whether it found a plan of at most the limit.
  bool Run(const Effort& effort);

  // Returns the offsets of the last plan that was found.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Returns the nodes of all calls together. A node is about as much work as a
  // node of ExactSearch.
  int64_t node_count() const { return node_count_; }

 private:
  static constexpr int32_t kNone = -1;

  // A tensor in the section that a front has reached.
  struct Place {
    int64_t low, high;
    int32_t ends;  // section, counted outwards from the fullest one
  };
  // The places by offset. Each plan has a front that goes forwards and one that
  // goes backwards.
  using Front = std::vector<Place>;
  struct Plan {
    Front fronts[2];
    int32_t last_choice;
    uint64_t hash;
  };
  // A tensor at an offset, linked to the choice before it.
  struct Choice {
    int32_t previous;
    int32_t item;
    int64_t offset;
  };
  // A tensor that is not live in the fullest section.
  struct Event {
    int32_t item;
    bool is_forwards;
    int32_t begins, ends;  // counted as in Place
  };
  struct Candidate {
    double cost;
    uint64_t hash;
    int32_t plan;
    int32_t gap;
    int64_t offset;
  };

  void ListEvents();
  void BeginPlans();
  bool GoOn(const Event& event);
  void ListCandidates(const Event& event, int32_t plan);
  double Cost(int32_t lower_end, int64_t gap_bytes, int32_t upper_end,
              int32_t now) const;
  void Keep(const Event& event);
  void TakeOffsets();

  const PlacementProblem* problem_;
  const int32_t fullest_;
  std::vector<int32_t> stack_;  // items live in the fullest section
  std::vector<Event> events_;

  Effort effort_;
  RandomSequence random_{0};
  std::vector<Plan> plans_, next_plans_;
  std::vector<Choice> choices_;
  std::vector<Candidate> candidates_;
  std::vector<int64_t> offsets_;
  int64_t node_count_ = 0;
};

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_BEAM_SWEEP_H_
