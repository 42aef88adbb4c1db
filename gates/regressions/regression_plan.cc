#include "footprint/gates/regressions/regression_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

constexpr char kLoop[] = "loop";
constexpr int64_t kLeakSteps = 8;
// The size of blocks that are allocated only for volume: too small for a
// separate mapping.
constexpr int64_t kVolumeBlockBytes = 1024;

bool IsPeak(MetricKind metric) {
  return metric == PEAK_LIVE_USABLE_BYTES ||
         metric == PEAK_LIVE_ABSOLUTE_USABLE_BYTES ||
         metric == SUM_THREAD_PEAK_USABLE_BYTES;
}

// A place is the part of a run that makes a figure, with the bytes by which the
// figure must grow.
struct Place {
  const JudgedFigure& figure;
  const AllocationRecord& record;
  const RecordedVisit& visit;
  RandomSequence* random;
  int64_t needed = 0;
  // Whether the record explains the figure. It does not if calls are missing,
  // such as those of another thread.
  bool is_explained = true;

  // Returns the bytes to add: between the least that must be detected and the
  // measured value.
  int64_t Amount() const {
    const int64_t most = std::max(needed, figure.measured);
    if (random->Below(2) == 0) return needed;
    const double factor =
        static_cast<double>(most) / static_cast<double>(needed);
    const double share = std::pow(factor, random->Uniform());
    return std::min(most,
                    static_cast<int64_t>(static_cast<double>(needed) * share));
  }

  // Returns the number of calls until the peak, 0 if that is unknown; for other
  // metrics, of all calls.
  size_t CallsToPeak() const {
    if (!IsPeak(figure.metric)) return visit.call_count;
    if (!is_explained) return 0;
    size_t count = 0;
    while (count < visit.call_count &&
           record.blocks[visit.first_call + count].begin <= visit.peak) {
      ++count;
    }
    return count;
  }

  // Returns one of them at random, or -1, which stands for the phase's
  // beginning.
  int64_t AnyCallToPeak() const {
    return static_cast<int64_t>(random->Below(CallsToPeak() + 1)) - 1;
  }

  // Returns a random call until the peak whose block fits; -1 if there is none.
  int64_t FindCall(
      const std::function<bool(const RecordedBlock&)>& fits) const {
    std::vector<int64_t> found;
    const size_t count = CallsToPeak();
    for (size_t i = 0; i < count; ++i) {
      if (fits(record.blocks[visit.first_call + i])) {
        found.push_back(static_cast<int64_t>(i));
      }
    }
    return found.empty() ? -1 : found[random->Below(found.size())];
  }

  const RecordedBlock& BlockAt(int64_t call) const {
    return record.blocks[visit.first_call + static_cast<size_t>(call)];
  }

  // Returns whether the block's bytes count in the figure.
  bool Counts(const RecordedBlock& block) const {
    if (IsPeak(figure.metric)) {
      return block.begin <= visit.peak && block.end > visit.peak;
    }
    if (figure.metric == NET_GROWTH_USABLE_BYTES) return block.end > visit.end;
    // A block that realloc enlarges in place cancels the added bytes.
    return figure.metric == ALLOCATED_USABLE_BYTES && !block.is_moved;
  }

  PlannedRegression Plan(RegressionSort sort, RegressionKind kind, int64_t call,
                         int64_t bytes, int64_t expected_growth) const {
    PlannedRegression planned;
    planned.sort = sort;
    planned.figure = figure;
    planned.planted.kind = kind;
    planned.planted.visit = visit.visit;
    planned.planted.call = call;
    planned.planted.bytes = bytes;
    CopyText(visit.phase.c_str(), planned.planted.phase);
    planned.expected_growth = expected_growth;
    return planned;
  }
};

using Planned = absl::optional<PlannedRegression>;

// Returns whether the metric counts the bytes of blocks.
bool IsOfKeptBytes(MetricKind metric) {
  return IsPeak(metric) || metric == ALLOCATED_USABLE_BYTES ||
         metric == NET_GROWTH_USABLE_BYTES;
}

int64_t ComputeGrowth(const RecordedBlock& block, int64_t more_bytes) {
  return UsableBytes(block.requested_bytes + more_bytes) - block.bytes;
}

// Returns the fewest bytes to add so that the block's size class grows by
// `needed`.
int64_t BytesUntilSeen(const RecordedBlock& block, int64_t needed) {
  return block.bytes + needed - block.requested_bytes;
}

Planned PlanOneMoreByte(const Place& place) {
  if (!IsOfKeptBytes(place.figure.metric)) return absl::nullopt;
  const auto is_full = [&](const RecordedBlock& block) {
    return place.Counts(block) && ComputeGrowth(block, 1) >= place.needed;
  };
  int64_t call = place.FindCall(is_full);
  if (call < 0) {
    call = place.FindCall(
        [&](const RecordedBlock& block) { return place.Counts(block); });
  }
  if (call < 0) return absl::nullopt;
  const RecordedBlock& block = place.BlockAt(call);
  const int64_t more = is_full(block) ? 1 : BytesUntilSeen(block, place.needed);
  return place.Plan(RegressionSort::kOneMoreByte, RegressionKind::kLargerBlock,
                    call, more, ComputeGrowth(block, more));
}

Planned PlanSmallBlock(const Place& place) {
  const MetricKind metric = place.figure.metric;
  if (metric == ALLOCATION_COUNT && place.needed == 1) {
    return place.Plan(RegressionSort::kSmallBlock, RegressionKind::kKeptBlock,
                      place.AnyCallToPeak(), 1, 1);
  }
  if (!IsOfKeptBytes(metric)) return absl::nullopt;
  const int64_t bytes = place.Amount();
  return place.Plan(RegressionSort::kSmallBlock, RegressionKind::kKeptBlock,
                    place.AnyCallToPeak(), bytes, UsableBytes(bytes));
}

Planned PlanFreedLater(const Place& place) {
  if (!IsPeak(place.figure.metric)) return absl::nullopt;
  const int64_t call = place.FindCall([&](const RecordedBlock& block) {
    return block.end < place.visit.peak && !block.is_moved &&
           block.bytes >= place.needed;
  });
  if (call < 0) return absl::nullopt;
  return place.Plan(RegressionSort::kFreedLater, RegressionKind::kLaterFree,
                    call, 0, place.BlockAt(call).bytes);
}

Planned PlanKeptCopy(const Place& place) {
  if (!IsOfKeptBytes(place.figure.metric)) return absl::nullopt;
  const int64_t call = place.FindCall([&](const RecordedBlock& block) {
    return UsableBytes(block.requested_bytes) >= place.needed;
  });
  if (call < 0) return absl::nullopt;
  const int64_t bytes = place.BlockAt(call).requested_bytes;
  return place.Plan(RegressionSort::kKeptCopy, RegressionKind::kKeptBlock, call,
                    bytes, UsableBytes(bytes));
}

Planned PlanLeakPerStep(const Place& place) {
  const MetricKind metric = place.figure.metric;
  const int64_t calls = static_cast<int64_t>(place.CallsToPeak());
  if (calls < 2) return absl::nullopt;
  const bool is_count = metric == ALLOCATION_COUNT;
  if (!is_count && !IsOfKeptBytes(metric)) return absl::nullopt;
  const int64_t steps = is_count ? place.needed : std::min(calls, kLeakSteps);
  if (steps > calls) return absl::nullopt;
  const int64_t bytes = is_count ? 1 : (place.Amount() + steps - 1) / steps;
  PlannedRegression planned =
      place.Plan(RegressionSort::kLeakPerStep, RegressionKind::kKeptBlock, 0,
                 bytes, steps * (is_count ? 1 : UsableBytes(bytes)));
  planned.planted.count = steps;
  planned.planted.stride = calls / steps;
  return planned;
}

Planned PlanLargerElement(const Place& place) {
  if (!IsOfKeptBytes(place.figure.metric)) return absl::nullopt;
  const int64_t call = place.FindCall([&](const RecordedBlock& block) {
    return place.Counts(block) &&
           ComputeGrowth(block, block.requested_bytes) >= place.needed;
  });
  if (call < 0) return absl::nullopt;
  const RecordedBlock& block = place.BlockAt(call);
  return place.Plan(RegressionSort::kLargerElement,
                    RegressionKind::kLargerBlock, call, block.requested_bytes,
                    ComputeGrowth(block, block.requested_bytes));
}

// Plans a few bytes for each unit of an argument.
Planned PlanGrowthWithArgument(const Place& place,
                               const BenchmarkMemory& benchmark) {
  if (!IsOfKeptBytes(place.figure.metric)) return absl::nullopt;
  std::vector<int64_t> values;
  for (const Argument& argument : benchmark.arguments()) {
    int64_t value = 0;
    if (absl::SimpleAtoi(argument.value(), &value) && value > 1) {
      values.push_back(value);
    }
  }
  if (values.empty()) return absl::nullopt;
  const int64_t value = values[place.random->Below(values.size())];
  const int64_t bytes = (place.Amount() + value - 1) / value * value;
  return place.Plan(RegressionSort::kGrowthWithArgument,
                    RegressionKind::kKeptBlock, place.AnyCallToPeak(), bytes,
                    UsableBytes(bytes));
}

Planned PlanOtherStage(const Place& place) {
  if (!IsPeak(place.figure.metric)) return absl::nullopt;
  const int64_t bytes = place.Amount();
  return place.Plan(RegressionSort::kOtherStage, RegressionKind::kStageBlock,
                    -1, bytes, UsableBytes(bytes));
}

Planned PlanMoreVolume(const Place& place) {
  const MetricKind metric = place.figure.metric;
  const bool is_count = metric == ALLOCATION_COUNT;
  if (!is_count && metric != ALLOCATED_USABLE_BYTES) return absl::nullopt;
  const int64_t amount = place.Amount();
  const int64_t bytes = is_count ? 1 : std::min(amount, kVolumeBlockBytes);
  const int64_t count = is_count ? amount : (amount + bytes - 1) / bytes;
  PlannedRegression planned =
      place.Plan(RegressionSort::kMoreVolume, RegressionKind::kVolume,
                 place.AnyCallToPeak(), bytes,
                 count * (is_count ? 1 : UsableBytes(bytes)));
  planned.planted.count = count;
  return planned;
}

Planned PlanMoreMapping(const Place& place) {
  if (place.figure.metric != PEAK_MAPPED_BYTES) return absl::nullopt;
  const int64_t bytes = AlignUp(place.Amount(), kPageBytes);
  const RecordedVisit& visit = place.visit;
  std::vector<int64_t> counted;
  for (size_t i = 0; i < visit.mapping_count; ++i) {
    const RecordedBlock& mapping =
        place.record.mappings[visit.first_mapping + i];
    if (mapping.begin <= visit.mapped_peak && mapping.end > visit.mapped_peak) {
      counted.push_back(static_cast<int64_t>(i));
    }
  }
  if (counted.empty() || place.random->Below(2) == 0) {
    return place.Plan(RegressionSort::kMoreMapping,
                      RegressionKind::kKeptMapping, -1, bytes, bytes);
  }
  return place.Plan(RegressionSort::kMoreMapping,
                    RegressionKind::kLargerMapping,
                    counted[place.random->Below(counted.size())], bytes, bytes);
}

// Returns the visit's peak in the figure's metric.
int64_t FindPeak(const RecordedVisit& visit, const JudgedFigure& figure) {
  return figure.metric == PEAK_MAPPED_BYTES ? visit.mapped_peak_bytes
                                            : visit.peak_bytes;
}

bool IsInside(const RecordedVisit& visit, size_t place) {
  return visit.begin <= place && place <= visit.end;
}

// Returns the visit that determines the figure; null if none does.
const RecordedVisit* FindVisit(const JudgedFigure& figure,
                               const AllocationRecord& record) {
  const bool has_loop = std::any_of(
      record.visits.begin(), record.visits.end(),
      [](const RecordedVisit& visit) { return visit.phase == kLoop; });
  const RecordedVisit* found = nullptr;
  for (const RecordedVisit& visit : record.visits) {
    const bool is_named = visit.phase == figure.phase;
    const bool is_loop = visit.phase == kLoop && visit.visit == 0;
    // A whole program's peak is in the outermost phase around it.
    const bool is_peaks = visit.phase.find('/') == std::string::npos &&
                          IsInside(visit, record.peak);
    const bool fits = !figure.phase.empty() ? is_named
                      : has_loop            ? is_loop
                                            : is_peaks;
    if (fits && (found == nullptr ||
                 FindPeak(visit, figure) > FindPeak(*found, figure))) {
      found = &visit;
    }
  }
  return found;
}

}  // namespace

int64_t UsableBytes(int64_t requested_bytes) {
  if (requested_bytes <= 8) return 8;
  if (requested_bytes <= 128) return (requested_bytes + 15) / 16 * 16;
  int64_t power = 128;
  while (power * 2 < requested_bytes) power *= 2;
  const int64_t step = power / 4;
  return (requested_bytes + step - 1) / step * step;
}

std::vector<JudgedFigure> JudgedFigures(const Verdict& verdict) {
  std::vector<JudgedFigure> figures;
  std::map<std::tuple<std::string, std::string, std::string, int>, size_t>
      indices;
  for (const Judgement& judgement : verdict.judgements()) {
    const RuleKind rule = judgement.rule();
    const bool is_upper =
        rule == MAXIMUM || rule == EXACT_VALUE || rule == MAXIMUM_RATIO;
    if (!is_upper || judgement.severity() != BLOCK ||
        judgement.decision() != ACCEPT || judgement.determinism() != EXACT) {
      continue;
    }
    const int64_t room = judgement.limit() - judgement.measured();
    const auto [entry, is_new] = indices.try_emplace(
        {judgement.label(), judgement.benchmark(), judgement.phase(),
         static_cast<int>(judgement.metric())},
        figures.size());
    if (is_new) {
      figures.push_back({judgement.label(), judgement.benchmark(),
                         judgement.phase(), judgement.metric(),
                         judgement.measured(), room});
    } else {
      JudgedFigure& figure = figures[entry->second];
      figure.room = std::min(figure.room, room);
    }
  }
  return figures;
}

absl::optional<PlannedRegression> PlanRegression(
    RegressionSort sort, const JudgedFigure& figure,
    const BenchmarkMemory& benchmark, const AllocationRecord& record,
    RandomSequence* random) {
  const RecordedVisit* const visit = FindVisit(figure, record);
  if (visit == nullptr) return absl::nullopt;
  // The whole of a program begins before its first phase.
  const bool is_net = figure.metric != PEAK_LIVE_ABSOLUTE_USABLE_BYTES &&
                      (!figure.phase.empty() || visit->phase == kLoop);
  const Place place{
      figure, record,          *visit,
      random, figure.room + 1, !is_net || visit->peak_bytes == figure.measured};
  switch (sort) {
    case RegressionSort::kOneMoreByte:
      return PlanOneMoreByte(place);
    case RegressionSort::kSmallBlock:
      return PlanSmallBlock(place);
    case RegressionSort::kFreedLater:
      return PlanFreedLater(place);
    case RegressionSort::kKeptCopy:
      return PlanKeptCopy(place);
    case RegressionSort::kLeakPerStep:
      return PlanLeakPerStep(place);
    case RegressionSort::kLargerElement:
      return PlanLargerElement(place);
    case RegressionSort::kGrowthWithArgument:
      return PlanGrowthWithArgument(place, benchmark);
    case RegressionSort::kOtherStage:
      return PlanOtherStage(place);
    case RegressionSort::kMoreVolume:
      return PlanMoreVolume(place);
    case RegressionSort::kMoreMapping:
      return PlanMoreMapping(place);
  }
  return absl::nullopt;
}

}  // namespace footprint
