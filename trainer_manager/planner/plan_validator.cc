#include "footprint/trainer_manager/planner/plan_validator.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

using Requests = absl::Span<const TensorRequest>;

template <typename... Parts>
absl::Status Broken(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat("plan: ", parts...));
}

absl::Status CheckOffsets(Requests requests, const MemoryPlan& plan,
                          int64_t capacity_bytes) {
  if (plan.offsets_bytes.size() != requests.size()) {
    return Broken(plan.offsets_bytes.size(), " offsets for ", requests.size(),
                  " tensors");
  }
  int64_t highest_end = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const int64_t offset = plan.offsets_bytes[i];
    const TensorRequest& request = requests[i];
    if (offset < 0) {
      return Broken("tensor ", TensorName(requests, i), " lies at ", offset,
                    ", below the arena");
    }
    if (request.alignment_bytes < 1 || offset % request.alignment_bytes != 0) {
      return Broken("tensor ", TensorName(requests, i), " lies at ", offset,
                    ", not a multiple of its alignment ",
                    request.alignment_bytes);
    }
    if (request.size_bytes < 1 ||
        offset > std::numeric_limits<int64_t>::max() - request.size_bytes) {
      return Broken("tensor ", TensorName(requests, i), " of ",
                    request.size_bytes, " bytes at ", offset,
                    " ends nowhere in 64 bits");
    }
    highest_end = std::max(highest_end, offset + request.size_bytes);
  }
  if (highest_end != plan.height_bytes) {
    return Broken("the height is said to be ", plan.height_bytes,
                  " but the highest tensor ends at ", highest_end);
  }
  if (highest_end > capacity_bytes) {
    return Broken("needs ", highest_end, " bytes of a capacity of ",
                  capacity_bytes);
  }
  return absl::OkStatus();
}

struct Event {
  int64_t step;
  bool begins;  // ends come first: a lifespan excludes its upper step
  size_t tensor;

  bool operator<(const Event& other) const {
    if (step != other.step) return step < other.step;
    if (begins != other.begins) return !begins;
    return tensor < other.tensor;
  }
};

absl::Status Overlap(Requests requests, const MemoryPlan& plan, size_t a,
                     size_t b) {
  const auto place = [&](size_t i) {
    return absl::StrCat("tensor ", TensorName(requests, i), " (steps [",
                        requests[i].lower_step, ", ", requests[i].upper_step,
                        "), bytes [", plan.offsets_bytes[i], ", ",
                        plan.offsets_bytes[i] + requests[i].size_bytes, "))");
  };
  return Broken(place(a), " and ", place(b), " overlap");
}

// Sweeps over the steps with the live tensors ordered by offset. As long as
// none overlap, a new tensor can only overlap its two neighbours.
absl::Status CheckOverlaps(Requests requests, const MemoryPlan& plan) {
  std::vector<Event> events;
  events.reserve(2 * requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].lower_step >= requests[i].upper_step) {
      return Broken("tensor ", TensorName(requests, i), " lives at no step");
    }
    events.push_back({requests[i].lower_step, true, i});
    events.push_back({requests[i].upper_step, false, i});
  }
  std::sort(events.begin(), events.end());
  std::map<int64_t, size_t> live;  // by offset
  for (const Event& event : events) {
    const int64_t offset = plan.offsets_bytes[event.tensor];
    if (!event.begins) {
      live.erase(offset);
      continue;
    }
    const auto above = live.lower_bound(offset);
    if (above != live.end() &&
        above->first < offset + requests[event.tensor].size_bytes) {
      return Overlap(requests, plan, event.tensor, above->second);
    }
    if (above != live.begin()) {
      const auto below = std::prev(above);
      if (below->first + requests[below->second].size_bytes > offset) {
        return Overlap(requests, plan, event.tensor, below->second);
      }
    }
    live.emplace(offset, event.tensor);
  }
  return absl::OkStatus();
}

// Returns the bytes that the tensors with at least this alignment need
// together, all but one of them rounded up to a multiple of it.
int64_t BytesNeeded(Requests requests, const std::vector<size_t>& tensors,
                    int64_t alignment_bytes) {
  int64_t bytes = 0;
  int64_t topmost_saves = 0;
  for (const size_t i : tensors) {
    if (requests[i].alignment_bytes < alignment_bytes) continue;
    const int64_t over = requests[i].size_bytes % alignment_bytes;
    const int64_t padding = over == 0 ? 0 : alignment_bytes - over;
    bytes += requests[i].size_bytes + padding;
    topmost_saves = std::max(topmost_saves, padding);
  }
  return bytes - topmost_saves;
}

absl::Status CheckBound(Requests requests, const MemoryPlan& plan) {
  const LowerBound& bound = plan.lower_bound;
  std::vector<size_t> live;
  std::set<int64_t> alignments;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].lower_step <= bound.step &&
        bound.step < requests[i].upper_step) {
      live.push_back(i);
      alignments.insert(requests[i].alignment_bytes);
    }
  }
  if (live != bound.tensors) {
    return Broken("the certificate names ", bound.tensors.size(),
                  " tensors of step ", bound.step, ", which has ", live.size(),
                  " or others");
  }
  int64_t needed = BytesNeeded(requests, live, 1);
  if (bound.kind != LowerBound::Kind::kLiveBytes) {
    for (const int64_t alignment : alignments) {
      needed = std::max(needed, BytesNeeded(requests, live, alignment));
    }
  }
  const bool follows = bound.kind == LowerBound::Kind::kExhaustiveSearch
                           ? bound.bytes >= needed
                           : bound.bytes == needed;
  if (!follows) {
    return Broken("the bound is said to be ", bound.bytes,
                  " but the tensors of step ", bound.step, " need ", needed);
  }
  if (bound.bytes > plan.height_bytes) {
    return Broken("the height ", plan.height_bytes,
                  " is below the lower bound ", bound.bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidatePlan(Requests requests, const MemoryPlan& plan,
                          int64_t capacity_bytes) {
  absl::Status status = CheckOffsets(requests, plan, capacity_bytes);
  if (status.ok()) status = CheckOverlaps(requests, plan);
  if (status.ok()) status = CheckBound(requests, plan);
  return status;
}

}  // namespace footprint
