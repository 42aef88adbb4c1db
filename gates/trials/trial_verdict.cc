#include "footprint/gates/trials/trial_verdict.h"

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
  // A program without a budget is rejected only if it needs more than its first
  // run may take.
  const bool has_budget = result.budget_bytes() > 0;
  judgement->set_limit(has_budget || result.runs().empty()
                           ? result.budget_bytes()
                           : result.runs(0).limit_bytes());
  judgement->set_rule(MAXIMUM);
  judgement->set_severity(BLOCK);
  const bool is_kept = result.cause() != PEAK_ABOVE_BUDGET &&
                       result.cause() != OUT_OF_MEMORY_UNDER_LIMIT;
  judgement->set_decision(is_kept ? ACCEPT : REJECT);
  judgement->set_threshold_location(has_budget ? "the trial's budget"
                                               : "the limit of the first run");
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

std::string DescribeEnd(const TrialRun& run) {
  if (run.is_timed_out()) return "timed out";
  if (run.is_out_of_memory()) return "out of memory";
  if (run.signal_number() != 0) {
    return absl::StrCat("signal ", run.signal_number());
  }
  return absl::StrCat("status ", run.exit_status());
}

std::string DescribeRun(const TrialRun& run) {
  return absl::StrCat(
      "peak ", FormatBytes(run.peak_bytes()), " with page cache, ",
      FormatBytes(run.peak_resident_bytes()), " resident",
      run.peak_proportional_bytes() > 0
          ? absl::StrCat(", ", FormatBytes(run.peak_proportional_bytes()),
                         " of all processes")
          : "",
      "; limit ", FormatRoundedBytes(run.limit_bytes()), "; ", DescribeEnd(run),
      absl::StrFormat(" after %.3f s, and %.1f ms of sandbox",
                      static_cast<double>(run.wall_time_ns()) * 1e-9,
                      static_cast<double>(run.sandbox_time_ns()) * 1e-6));
}

// Returns the last lines of standard error of the run that failed. Ignores the
// run under the profiler, which decides nothing.
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

// Returns the reason with the program's last output, which mostly names the
// cause.
std::string ProblemText(const TrialResult& result) {
  const std::vector<std::string> lines = LastErrorLines(result);
  return lines.empty() ? result.reason()
                       : absl::StrCat(result.reason(),
                                      "; its last words: ", lines.back());
}

// Adds remarks about one label. Reports escape the texts of the remarks.
class Remarks {
 public:
  Remarks(const std::string& label, Verdict* verdict)
      : label_(label), verdict_(*verdict) {}

  void Add(const std::string& about, const std::string& text) {
    ProducerRemark* const remark = verdict_.add_remarks();
    remark->set_label(label_);
    remark->mutable_remark()->set_about(about);
    remark->mutable_remark()->set_text(text);
  }

 private:
  const std::string& label_;
  Verdict& verdict_;
};

void AddRemarks(const TrialResult& result, const std::string& label,
                Verdict* verdict) {
  Remarks remarks(label, verdict);
  // Otherwise a problem says it.
  if (IsOfTheBudget(result.cause())) remarks.Add("trial", result.reason());
  for (const TrialRun& run : result.runs()) {
    remarks.Add(WordOfPurpose(run.purpose()), DescribeRun(run));
  }
  for (const std::string& line : LastErrorLines(result)) {
    remarks.Add("standard error", line);
  }
  if (!result.peak_stage().empty()) {
    remarks.Add("stage of the peak", result.peak_stage());
  }
  if (result.heap_peak_bytes() > 0) {
    remarks.Add("heap at its peak, by the profiler",
                FormatBytes(result.heap_peak_bytes()));
  }
  for (int i = 0; i < std::min(result.peak_sites_size(), kMostSites); ++i) {
    const Attribution& site = result.peak_sites(i);
    remarks.Add(
        "place of the peak",
        absl::StrCat(FormatBytes(site.live_bytes()), " at ", site.site()));
  }
  if (!result.explanation_failure().empty()) {
    remarks.Add("no profile",
                absl::StrCat("the program's records cannot be read: ",
                             result.explanation_failure()));
  }
  if (!result.image_digest().empty()) {
    remarks.Add("image", result.image_digest());
  }
  if (!result.environment().empty()) {
    remarks.Add("ran on", result.environment());
  }
}

}  // namespace

std::string LabelOfBundle(const BundleManifest& manifest) {
  if (!manifest.label().empty()) return manifest.label();
  return manifest.entry().empty() ? "//bundle"
                                  : absl::StrCat("//bundle:", manifest.entry());
}

Decision DecisionOfCause(TrialCause cause, Decision by_thresholds) {
  switch (cause) {
    case FITS:
      return ACCEPT;
    case PEAK_ABOVE_BUDGET:
    case OUT_OF_MEMORY_UNDER_LIMIT:
    case THRESHOLD_REJECTED:
      return REJECT;
    case BAD_BUNDLE:
    case NO_BUDGET:
      return BAD_CONFIGURATION;
    case PROGRAM_FAILED:
    case TIMED_OUT:
      return PRODUCER_FAILED;
    case THRESHOLD_INCONCLUSIVE:
      return by_thresholds;
    default:
      return INCONCLUSIVE;
  }
}

Verdict MakeTrialVerdict(const TrialResult& result,
                         const Verdict& by_thresholds) {
  Verdict verdict;
  const std::string label = LabelOfBundle(result.manifest());
  const Decision decision =
      DecisionOfCause(result.cause(), by_thresholds.decision());
  if (IsOfTheBudget(result.cause())) {
    AddBudgetJudgement(result, label, &verdict);
  } else {
    Problem* const problem = verdict.add_problems();
    problem->set_decision(decision);
    problem->set_location(label);
    problem->set_message(ProblemText(result));
  }
  verdict.MergeFrom(by_thresholds);
  verdict.set_decision(decision);
  AddRemarks(result, label, &verdict);
  return verdict;
}

}  // namespace footprint
