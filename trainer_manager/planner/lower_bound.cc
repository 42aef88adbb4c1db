#include "footprint/trainer_manager/planner/lower_bound.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "footprint/base/memory/alignment.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace {

using trainer_manager_internal::MakePlacementProblem;
using trainer_manager_internal::PlacementItem;
using trainer_manager_internal::PlacementProblem;

bool Counts(const PlacementItem& item, int64_t alignment) {
  return item.alignment >= alignment;
}

// Returns the section in which the items with at least this alignment need
// most, each rounded up to a multiple of it.
int32_t FullestSection(const PlacementProblem& problem, int64_t alignment) {
  std::vector<int64_t> change(problem.section_count() + 1, 0);
  for (const PlacementItem& item : problem.items) {
    if (!Counts(item, alignment)) continue;
    change[item.begin] += AlignUp(item.size, alignment);
    change[item.end] -= AlignUp(item.size, alignment);
  }
  int64_t live = 0;
  int64_t most = 0;
  int32_t fullest = 0;
  for (int32_t section = 0; section < problem.section_count(); ++section) {
    live += change[section];
    if (live > most) {
      most = live;
      fullest = section;
    }
  }
  return fullest;
}

// Returns the bytes that the counted items of the section need. The topmost
// item needs no padding, so the largest padding is left out.
int64_t BytesInSection(const PlacementProblem& problem, int32_t section,
                       int64_t alignment) {
  int64_t sum = 0;
  int64_t largest_padding = 0;
  for (const PlacementItem& item : problem.items) {
    if (!Counts(item, alignment) || item.begin > section ||
        item.end <= section) {
      continue;
    }
    const int64_t padded = AlignUp(item.size, alignment);
    sum += padded;
    largest_padding = std::max(largest_padding, padded - item.size);
  }
  return sum - largest_padding;
}

}  // namespace

LowerBound ComputeLowerBound(absl::Span<const TensorRequest> requests) {
  LowerBound bound;
  if (requests.empty()) return bound;
  const PlacementProblem problem = MakePlacementProblem(requests);
  std::set<int64_t> alignments = {1};
  for (const PlacementItem& item : problem.items) {
    alignments.insert(item.alignment);
  }
  int32_t best_section = 0;
  for (const int64_t fullest_by : alignments) {
    const int32_t section = FullestSection(problem, fullest_by);
    // Another alignment may prove more in the same section.
    for (const int64_t alignment : alignments) {
      const int64_t bytes = BytesInSection(problem, section, alignment);
      if (bytes <= bound.bytes) continue;
      bound.bytes = bytes;
      bound.kind = alignment == 1 ? LowerBound::Kind::kLiveBytes
                                  : LowerBound::Kind::kAlignedLiveBytes;
      best_section = section;
    }
  }
  bound.step = problem.section_steps[best_section];
  for (size_t i = 0; i < problem.items.size(); ++i) {
    if (problem.items[i].begin <= best_section &&
        best_section < problem.items[i].end) {
      bound.tensors.push_back(i);
    }
  }
  return bound;
}

}  // namespace footprint
