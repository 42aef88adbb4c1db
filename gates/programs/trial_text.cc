#include "footprint/gates/programs/trial_text.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/trials/run_trial.h"

namespace footprint {
namespace {

constexpr int kShownSites = 5;

std::string RunLine(const TrialRun& run) {
  static constexpr const char* kPurposes[] = {
      "", "measured", "proved", "explained", "proved under its heap"};
  const std::string end = run.is_timed_out()       ? "timed out"
                          : run.is_out_of_memory() ? "out of memory"
                          : run.signal_number() != 0
                              ? absl::StrCat("signal ", run.signal_number())
                              : absl::StrCat("status ", run.exit_status());
  return absl::StrCat(
      "  ", kPurposes[run.purpose()], ": cgroup peak ",
      FormatBytes(run.peak_bytes()), ", resident peak ",
      FormatBytes(run.peak_resident_bytes()),
      run.peak_proportional_bytes() > 0
          ? absl::StrCat(", all processes ",
                         FormatBytes(run.peak_proportional_bytes()))
          : "",
      ", limit ", FormatRoundedBytes(run.limit_bytes()), ", ", end, ", ",
      run.wall_time_ns() / 1000, " us and ", run.sandbox_time_ns() / 1000,
      " us of sandbox\n");
}

}  // namespace

std::string TrialText(const TrialResult& result) {
  const Decision decision = static_cast<Decision>(ExitStatusOf(result));
  std::string text = absl::StrCat(
      result.manifest().entry().empty() ? "bundle" : result.manifest().entry(),
      ": ", EscapeForTerminal(result.reason()), "\n");
  for (const TrialRun& run : result.runs()) {
    absl::StrAppend(&text, RunLine(run));
  }
  if (result.heap_peak_bytes() > 0) {
    absl::StrAppend(&text, "  heap peak, by the profiler: ",
                    FormatBytes(result.heap_peak_bytes()), "\n");
  }
  if (!result.explanation_failure().empty()) {
    absl::StrAppend(&text, "  not explained: ",
                    EscapeForTerminal(result.explanation_failure()), "\n");
  }
  for (int i = 0; i < std::min(kShownSites, result.peak_sites_size()); ++i) {
    absl::StrAppend(&text, "    ",
                    FormatRoundedBytes(result.peak_sites(i).live_bytes()), "  ",
                    EscapeForTerminal(result.peak_sites(i).site()), "\n");
  }
  if (decision == PRODUCER_FAILED && !result.runs().empty()) {
    absl::StrAppend(&text, "  last words: ",
                    EscapeForTerminal(result.runs(0).standard_error_tail()),
                    "\n");
  }
  absl::StrAppend(&text, "\nVerdict: ", Decision_Name(decision), "\n");
  return text;
}

}  // namespace footprint
