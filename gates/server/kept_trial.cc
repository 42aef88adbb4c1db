#include "footprint/gates/server/kept_trial.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {
namespace {

constexpr int kMostSites = 5;
constexpr size_t kMostErrorLines = 10;
constexpr size_t kMostLineBytes = 300;

// As trials name a bundle without a label.
std::string LabelOf(const TrialResult& result) {
  const BundleManifest& manifest = result.manifest();
  if (!manifest.label().empty()) return manifest.label();
  return manifest.entry().empty() ? "//bundle"
                                  : absl::StrCat("//bundle:", manifest.entry());
}

bool IsOfTheBudget(TrialCause cause) {
  return cause == FITS || cause == PEAK_ABOVE_BUDGET ||
         cause == OUT_OF_MEMORY_UNDER_LIMIT || cause == THRESHOLD_REJECTED ||
         cause == THRESHOLD_INCONCLUSIVE;
}

void AddBudgetJudgement(const TrialResult& result, const std::string& label,
                        Verdict* verdict) {
  Judgement* judgement = verdict->add_judgements();
  judgement->set_label(label);
  judgement->set_benchmark("whole process");
  judgement->set_metric(PEAK_RESIDENT_BYTES);
  judgement->set_measured(result.whole_process_peak_bytes());
  judgement->set_limit(result.budget_bytes());
  judgement->set_rule(MAXIMUM);
  judgement->set_severity(BLOCK);
  const bool is_kept = result.cause() != PEAK_ABOVE_BUDGET &&
                       result.cause() != OUT_OF_MEMORY_UNDER_LIMIT;
  judgement->set_decision(is_kept ? ACCEPT : REJECT);
  judgement->set_threshold_location("the trial's budget");
  judgement->set_determinism(STATISTICAL);
  judgement->set_explanation(
      absl::StrCat(result.peak_source(),
                   result.peak_source().empty() ? "" : ": ", result.reason()));
}

const char* WordOfPurpose(TrialRun::Purpose purpose) {
  switch (purpose) {
    case TrialRun::MEASURE:
      return "measured";
    case TrialRun::PROVE:
      return "proved under the budget";
    case TrialRun::EXPLAIN:
      return "explained by the profiler";
    case TrialRun::PROVE_HEAP:
      return "proved under what the heap explains";
    default:
      return "run";
  }
}

std::string RunRemark(const TrialRun& run) {
  return absl::StrCat(
      WordOfPurpose(run.purpose()), ": peak ", FormatBytes(run.peak_bytes()),
      absl::StrFormat(", %.3f s, sandbox %.1f ms",
                      static_cast<double>(run.wall_time_ns()) * 1e-9,
                      static_cast<double>(run.sandbox_time_ns()) * 1e-6),
      run.is_out_of_memory() ? ", out of memory" : "",
      run.is_timed_out() ? ", timed out" : "");
}

// The last lines of standard error, of the run that failed; the profiler's own
// run decides nothing.
std::vector<std::string> LastErrorLines(const TrialResult& result) {
  std::vector<std::string> lines;
  for (const TrialRun& run : result.runs()) {
    const bool has_failed = run.exit_status() != 0 || run.signal_number() != 0;
    if (!has_failed || run.purpose() == TrialRun::EXPLAIN) continue;
    lines =
        absl::StrSplit(run.standard_error_tail(), '\n', absl::SkipWhitespace());
  }
  if (lines.size() > kMostErrorLines) {
    lines.erase(lines.begin(), lines.end() - kMostErrorLines);
  }
  for (std::string& line : lines) {
    line = EscapeForTerminal(absl::string_view(line).substr(0, kMostLineBytes));
  }
  return lines;
}

// With what the program itself said last: mostly the cause.
std::string ProblemText(const TrialResult& result) {
  const std::vector<std::string> lines = LastErrorLines(result);
  return lines.empty() ? result.reason()
                       : absl::StrCat(result.reason(),
                                      "; its last words: ", lines.back());
}

void AddRemarks(const TrialResult& result, StoredResult* kept) {
  kept->add_remarks(result.reason());
  for (const std::string& line : LastErrorLines(result)) {
    kept->add_remarks("standard error: " + line);
  }
  if (!result.peak_stage().empty()) {
    kept->add_remarks(absl::StrCat("stage of the peak: ", result.peak_stage()));
  }
  if (result.heap_peak_bytes() > 0) {
    kept->add_remarks(absl::StrCat("heap at its peak, by the profiler: ",
                                   FormatBytes(result.heap_peak_bytes())));
  }
  if (!result.explanation_failure().empty()) {
    kept->add_remarks(
        absl::StrCat("no profile: the program's records cannot be read: ",
                     result.explanation_failure()));
  }
  for (int i = 0; i < std::min(result.peak_sites_size(), kMostSites); ++i) {
    const Attribution& site = result.peak_sites(i);
    kept->add_remarks(
        absl::StrCat(site.site(), ": ", FormatBytes(site.live_bytes())));
  }
  for (const TrialRun& run : result.runs()) kept->add_remarks(RunRemark(run));
  if (!result.environment().empty()) {
    kept->add_remarks(absl::StrCat("ran on ", result.environment()));
  }
}

}  // namespace

StoredResult KeptTrial(const TrialResult& result, int decision) {
  StoredResult kept;
  const std::string label = LabelOf(result);
  kept.set_deployment(label);
  Verdict* verdict = kept.mutable_verdict();
  if (IsOfTheBudget(result.cause())) {
    AddBudgetJudgement(result, label, verdict);
  } else {
    Problem* problem = verdict->add_problems();
    problem->set_decision(static_cast<Decision>(decision));
    problem->set_location(label);
    problem->set_message(ProblemText(result));
  }
  verdict->MergeFrom(result.threshold_verdict());
  verdict->set_decision(static_cast<Decision>(decision));
  if (result.has_profile()) *kept.mutable_profile() = result.profile();
  AddRemarks(result, &kept);
  return kept;
}

}  // namespace footprint
