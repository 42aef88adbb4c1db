#include "footprint/gates/judge/coverage_check.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/judge/peak_limit.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {
namespace {

// Returns whether the threshold limits the memory that the program's figures
// leave out, blocks, and gives a reason.
bool ExplainsTheRest(const Threshold& threshold) {
  return threshold.metric() == RESIDENT_ANONYMOUS_BYTES &&
         IsBlocking(threshold) && LimitsAbove(threshold) &&
         IsReason(threshold.reason());
}

}  // namespace

CoverageCheck::CoverageCheck(absl::Span<const MemoryProfile> profiles,
                             const MeasurementIndex& index)
    : profiles_(profiles), index_(index), states_(profiles.size()) {
  for (size_t i = 0; i < profiles.size(); ++i) {
    states_[i].resize(static_cast<size_t>(profiles[i].benchmarks_size()));
  }
}

void CoverageCheck::NoteRule(const Threshold& threshold,
                             const std::string& location,
                             const BenchmarkKey& benchmark,
                             const std::vector<Measurement>& found) {
  State& state = StateAt(benchmark);
  state.is_named = true;
  state.is_limited |=
      !found.empty() &&
      LimitsPeak(
          threshold,
          index_.ProfileAt(benchmark.first).benchmarks(benchmark.second));
  for (const Measurement& measurement : found) {
    state.is_rest_judged |= index_.PhaseAt(measurement) == kUnaccountedPhase &&
                            ExplainsTheRest(threshold);
    NoteHighest(threshold, location, measurement);
  }
}

void CoverageCheck::NoteHighest(const Threshold& threshold,
                                const std::string& location,
                                const Measurement& found) {
  if (!IsBlocking(threshold)) return;
  const MeasurementKey key = MakeKey(found, threshold.metric());
  if (LimitsAbove(threshold)) {
    limited_.insert(key);
    return;
  }
  const char* const why = WhyNeedsLimit(threshold);
  if (why == nullptr) return;
  medians_.push_back({key, location,
                      absl::StrCat(SchemaNameOfMetric(threshold.metric()),
                                   " of ", index_.Describe(found), " ", why)});
}

void CoverageCheck::NoteExemption(const BenchmarkKey& benchmark) {
  StateAt(benchmark).is_exempt = true;
}

void CoverageCheck::NoteJudged(const Measurement& found, bool is_blocking) {
  State& state = StateAt({found.profile, found.benchmark});
  state.is_judged = true;
  state.is_judged_to_block |= is_blocking;
}

void CoverageCheck::CheckForks(Verdict* verdict) const {
  for (size_t i = 0; i < states_.size(); ++i) {
    for (size_t j = 0; j < states_[i].size(); ++j) {
      const BenchmarkMemory& benchmark =
          profiles_[i].benchmarks(static_cast<int>(j));
      if (!states_[i][j].is_judged || benchmark.forked_process_count() == 0) {
        continue;
      }
      AddProblem(states_[i][j].is_judged_to_block ? INCONCLUSIVE : ACCEPT,
                 profiles_[i].label(),
                 absl::StrCat("benchmark \"", benchmark.name(), "\" started ",
                              benchmark.forked_process_count(),
                              " child processes, whose memory is not in its "
                              "figures; measure them as programs of their own"),
                 verdict);
    }
  }
}

void CoverageCheck::CheckMedians(Verdict* verdict) const {
  for (const Median& median : medians_) {
    if (limited_.count(median.key) > 0) continue;
    AddProblem(BAD_CONFIGURATION, median.location, median.message, verdict);
  }
}

void CoverageCheck::CheckEveryBenchmarkIsJudged(
    const UpdateCommand& command, const std::set<BenchmarkKey>& mismatched,
    Verdict* verdict) const {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    for (size_t j = 0; j < states_[i].size(); ++j) {
      const State& state = states_[i][j];
      if (state.is_limited || state.is_exempt ||
          mismatched.count({static_cast<int>(i), static_cast<int>(j)}) > 0) {
        continue;
      }
      const std::string& name =
          profiles_[i].benchmarks(static_cast<int>(j)).name();
      AddProblem(BAD_CONFIGURATION, profiles_[i].label(),
                 absl::StrCat(state.is_named
                                  ? "no rule that blocks limits the peak of "
                                    "benchmark \""
                                  : "no threshold judges benchmark \"",
                              name,
                              state.is_named
                                  ? "\", so any need would be accepted; exempt "
                                    "it with a reason, or limit it by "
                                  : "\"; add ",
                              "what it needs now with: ",
                              command.ToAdd(profiles_[i].label(), name)),
                 verdict);
    }
  }
}

void CoverageCheck::CheckProgramsTellEnough(Verdict* verdict) const {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    for (size_t j = 0; j < states_[i].size(); ++j) {
      const BenchmarkMemory& whole =
          profiles_[i].benchmarks(static_cast<int>(j));
      if (states_[i][j].is_rest_judged || !TellsTooLittle(whole)) continue;
      AddProblem(
          BAD_CONFIGURATION, profiles_[i].label(),
          absl::StrCat("its own figures tell of less than half of the ",
                       "anonymous memory that was seen from outside, and "
                       "leave out ",
                       UnaccountedBytes(whole), " bytes (\"", whole.name(),
                       "\"); find what holds them, or add a threshold with "
                       "a reason: RESIDENT_ANONYMOUS_BYTES of phase \"",
                       kUnaccountedPhase, "\""),
          verdict);
    }
  }
}

}  // namespace footprint
