#include "footprint/gates/trials/trial_decision.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;
// The kernel charges pages in advance, so a process reaches its limit slightly
// below it.
constexpr int64_t kNearLimitBytes = kMiB / 4;

const char* NamePeak(const TrialRun& run) {
  if (run.peak_bytes() == FindPeak(run)) return "peak of the cgroup";
  return run.peak_resident_bytes() == FindPeak(run)
             ? "resident peak of the largest process"
             : "resident sum of all processes, shared pages once";
}

void KeepPeak(const TrialRun& run, TrialResult* result) {
  if (FindPeak(run) <= result->whole_process_peak_bytes()) return;
  result->set_whole_process_peak_bytes(FindPeak(run));
  result->set_peak_source(NamePeak(run));
}

// Returns whether the run was killed although its own limit had room, because
// the host has too little memory.
bool IsKilledByHost(const TrialRun& run) {
  return run.is_out_of_memory() &&
         run.peak_bytes() < run.limit_bytes() - kNearLimitBytes;
}

// Returns a budget that has room for the peak. A peak varies slightly, so this
// adds a fiftieth and rounds up to whole MiB.
int64_t ComputeBudgetFor(int64_t peak_bytes) {
  return (peak_bytes + peak_bytes / 50 + kMiB - 1) / kMiB * kMiB;
}

// Decides, and returns true, if the host ran out of memory before the run could
// show anything about the budget.
bool DecideWithoutRoom(const TrialRun& run, const TrialLimits& limits,
                       TrialResult* result) {
  if (IsKilledByHost(run)) {
    Decide(HOST_OUT_OF_MEMORY,
           absl::StrCat("the host ran out of memory and killed the program at ",
                        FormatBytes(run.peak_bytes()),
                        ", below its run's limit of ",
                        FormatBytes(run.limit_bytes()),
                        "; try it again when less runs on this host"),
           result);
    return true;
  }
  const bool is_capped =
      run.limit_bytes() == limits.room_bytes &&
      (limits.budget_bytes <= 0 || run.limit_bytes() < limits.budget_bytes);
  if (!is_capped || HasSucceeded(run) ||
      (!run.is_out_of_memory() && run.limit_hit_count() == 0)) {
    return false;
  }
  Decide(HOST_OUT_OF_MEMORY,
         absl::StrCat("needs more than ", FormatBytes(run.limit_bytes()),
                      ", which is all that this host has for a run; ",
                      limits.budget_bytes > 0
                          ? absl::StrCat("the budget is ",
                                         FormatBytes(limits.budget_bytes),
                                         "; try it on a larger host")
                          : "try it on a larger host"),
         result);
  return true;
}

// Returns whether the page cache of the files that a program read has filled
// its run's limit. It would fill a higher one, too, so the peak does not tell
// which budget has room.
bool IsFilledByPageCache(const TrialRun& run) {
  return HasSucceeded(run) && run.limit_bytes() > 0 &&
         run.peak_bytes() >= run.limit_bytes() - kNearLimitBytes &&
         run.peak_resident_bytes() < run.limit_bytes() / 2;
}

// Decides, and returns true, if the peak so far is above the budget.
bool DecideByPeak(const TrialRun& run, const TrialLimits& limits,
                  TrialResult* result) {
  const int64_t peak = result->whole_process_peak_bytes();
  const int64_t budget = limits.budget_bytes;
  if (budget <= 0 || peak <= budget) return false;
  result->set_excess_bytes(peak - budget);
  const std::string advice =
      IsFilledByPageCache(run)
          ? absl::StrCat(
                "; page cache of files that it reads fills the run's "
                "limit, with only ",
                FormatBytes(run.peak_resident_bytes()),
                " in its largest process: let it drop pages that it "
                "has read (posix_fadvise), or read with O_DIRECT")
          : absl::StrCat("; budget_bytes: ", ComputeBudgetFor(peak),
                         " has room for it");
  Decide(PEAK_ABOVE_BUDGET,
         absl::StrCat("needs ", FormatBytes(peak), ", ",
                      FormatBytes(peak - budget), " above the budget of ",
                      FormatBytes(budget), advice),
         result);
  return true;
}

void RejectAboveMeasuringLimit(const TrialRun& run, const TrialLimits& limits,
                               TrialResult* result) {
  const bool has_budget = limits.budget_bytes > 0;
  result->set_excess_bytes(
      has_budget ? std::max<int64_t>(0, run.peak_bytes() - limits.budget_bytes)
                 : 0);
  Decide(
      OUT_OF_MEMORY_UNDER_LIMIT,
      absl::StrCat("needs more than ", FormatBytes(run.limit_bytes()),
                   ", the limit of the run that measures it",
                   has_budget ? absl::StrCat("; the budget is ",
                                             FormatBytes(limits.budget_bytes))
                              : ""),
      result);
}

}  // namespace

int64_t FindPeak(const TrialRun& run) {
  return std::max({run.peak_bytes(), run.peak_resident_bytes(),
                   run.peak_proportional_bytes()});
}

bool HasSucceeded(const TrialRun& run) {
  return !run.is_timed_out() && run.exit_status() == 0 &&
         run.signal_number() == 0;
}

std::string DescribeEnd(const TrialRun& run) {
  if (run.is_timed_out()) return "did not end in its time";
  if (run.signal_number() != 0) {
    return absl::StrCat("was ended by signal ", run.signal_number());
  }
  return absl::StrCat("ended with status ", run.exit_status());
}

void Decide(TrialCause cause, std::string reason, TrialResult* result) {
  result->set_cause(cause);
  result->set_reason(std::move(reason));
}

void DecideMeasuredRun(const TrialRun& run, const TrialLimits& limits,
                       TrialResult* result) {
  KeepPeak(run, result);
  if (DecideWithoutRoom(run, limits, result)) return;
  if (run.is_out_of_memory()) {
    return RejectAboveMeasuringLimit(run, limits, result);
  }
  if (DecideByPeak(run, limits, result)) return;
  const std::string peak = FormatBytes(FindPeak(run));
  if (run.is_timed_out()) {
    Decide(TIMED_OUT,
           absl::StrCat("did not end in ", limits.time_limit_seconds,
                        " s; its peak until then was ", peak,
                        "; let it do less, or raise time_limit_seconds of the "
                        "manifest and --time_limit of `try` or `serve`"),
           result);
  } else if (!HasSucceeded(run)) {
    Decide(
        PROGRAM_FAILED,
        absl::StrCat("the program ", DescribeEnd(run),
                     ", so its peak is not known; find out whether it fails "
                     "elsewhere, too: in a trial it has no network, at most ",
                     limits.process_limit,
                     " processes and threads, and an empty /tmp"),
        result);
  } else if (limits.budget_bytes <= 0) {
    Decide(NO_BUDGET,
           absl::StrCat("needs ", peak,
                        "; no budget is given: write budget_bytes into the "
                        "manifest"),
           result);
  }
}

void DecideProvedRun(const TrialRun& run, const TrialLimits& limits,
                     TrialResult* result) {
  KeepPeak(run, result);
  if (DecideWithoutRoom(run, limits, result)) return;
  const std::string budget = FormatBytes(limits.budget_bytes);
  if (run.is_out_of_memory() ||
      (!HasSucceeded(run) && run.limit_hit_count() > 0)) {
    return Decide(OUT_OF_MEMORY_UNDER_LIMIT,
                  absl::StrCat("under the limit of ", budget, " the program ",
                               DescribeEnd(run),
                               run.is_out_of_memory() ? ", out of memory" : ""),
                  result);
  }
  if (DecideByPeak(run, limits, result)) return;
  if (!HasSucceeded(run)) {
    return Decide(RUNS_DIFFER,
                  absl::StrCat("the second run ", DescribeEnd(run),
                               ", for no reason that its limit gives"),
                  result);
  }
  Decide(FITS,
         absl::StrCat("needs ", FormatBytes(result->whole_process_peak_bytes()),
                      " of the budget of ", budget, ", and ran under it"),
         result);
}

void DecideByThresholds(Decision decision, const std::string& doubt,
                        TrialResult* result) {
  if (result->cause() != FITS || decision == ACCEPT) return;
  Decide(
      decision == REJECT ? THRESHOLD_REJECTED : THRESHOLD_INCONCLUSIVE,
      absl::StrCat("fits the budget, but a threshold gives ",
                   Decision_Name(decision), doubt.empty() ? "" : ": ", doubt),
      result);
}

}  // namespace footprint
