// Tests of the promises of stage_report.h.

#include "footprint/gates/deployments/tabular/stage_report.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

template <typename Owner>
void AddMetric(MetricKind kind, int64_t value, Owner* owner) {
  Metric* metric = owner->add_metrics();
  metric->set_kind(kind);
  metric->set_determinism(EXACT);
  metric->set_value(value);
}

void AddArgument(const std::string& name, const std::string& value,
                 BenchmarkMemory* memory) {
  Argument* argument = memory->add_arguments();
  argument->set_name(name);
  argument->set_value(value);
}

// Stage i has a peak of 100 (i + 1) bytes and a volume of 10.
MemoryProfile MakeProfile(const std::string& program, const std::string& io,
                          const std::string& features,
                          const std::string& rows) {
  MemoryProfile profile;
  profile.set_label("//gates/deployments/tabular:" + program);
  BenchmarkMemory* memory = profile.add_benchmarks();
  memory->set_name(program + "/io:" + io);
  AddArgument("io", io, memory);
  AddArgument("features", features, memory);
  AddArgument("rows", rows, memory);
  AddMetric(PEAK_LIVE_USABLE_BYTES, 900, memory);
  for (size_t i = 0; i < kStages.size(); ++i) {
    Phase* phase = memory->add_phases();
    phase->set_name(kStages[i]);
    phase->set_parent(-1);
    AddMetric(PEAK_LIVE_USABLE_BYTES, 100 * (i + 1), phase);
    AddMetric(PEAK_MAPPED_BYTES, 0, phase);
    AddMetric(ALLOCATED_USABLE_BYTES, 10, phase);
  }
  AddMetric(IMAGE_BYTES, 0, memory->mutable_phases(0));
  return profile;
}

void SetMetric(MetricKind kind, int64_t value, Phase* phase) {
  for (Metric& metric : *phase->mutable_metrics()) {
    if (metric.kind() == kind) metric.set_value(value);
  }
}

// Merging drops a metric that was not the same in every process, as this does.
void RemoveMetric(MetricKind kind, Phase* phase) {
  auto* metrics = phase->mutable_metrics();
  metrics->erase(std::remove_if(metrics->begin(), metrics->end(),
                                [kind](const Metric& metric) {
                                  return metric.kind() == kind;
                                }),
                 metrics->end());
  phase->add_unrepeated(kind);
}

TEST(StageReportTest, AddsImageToStartupAndMappedFilesToTheirStage) {
  MemoryProfile profile = MakeProfile("linear_regression", "mapped", "3", "5");
  SetMetric(IMAGE_BYTES, 1000,
            profile.mutable_benchmarks(0)->mutable_phases(0));
  SetMetric(PEAK_MAPPED_BYTES, 5000,
            profile.mutable_benchmarks(0)->mutable_phases(1));
  const auto runs = CollectRuns({profile});
  ASSERT_THAT(runs, IsOk());
  ASSERT_EQ(runs->size(), 1u);
  const StageRun& run = (*runs)[0];
  EXPECT_EQ(run.program, "linear_regression");
  EXPECT_EQ(run.io, "mapped");
  EXPECT_EQ(run.table_bytes(), 8 * 4 * 5);
  EXPECT_EQ(run.process_peak_bytes, 900);
  EXPECT_EQ(run.peak_bytes, (RunBytes{1100, 5200, 300, 400, 500, 600, 700}));
  EXPECT_EQ(run.volume_bytes, (RunBytes{10, 10, 10, 10, 10, 10, 10}));
}

TEST(StageReportTest, OrdersBySize) {
  const auto runs = CollectRuns({MakeProfile("a", "csv", "100", "1000"),
                                 MakeProfile("a", "mapped", "10", "1000"),
                                 MakeProfile("a", "csv", "10", "1000")});
  ASSERT_THAT(runs, IsOk());
  EXPECT_EQ((*runs)[0].io, "csv");
  EXPECT_EQ((*runs)[1].io, "mapped");
  EXPECT_EQ((*runs)[2].features, 100);
}

TEST(StageReportTest, SaysSharesInTextAndPage) {
  const auto runs =
      CollectRuns({MakeProfile("linear_regression", "csv", "10", "1000")});
  ASSERT_THAT(runs, IsOk());
  const std::string text = StageText(*runs);
  EXPECT_THAT(text, HasSubstr("10 x 1,000"));
  // The shares of 100 in 2,800 and of one of seven equal parts.
  EXPECT_THAT(text, HasSubstr("  csv      3.6   7.1  10.7"));
  EXPECT_THAT(text, HasSubstr("  csv     14.3  14.3"));
  const std::string html = StageHtml(*runs);
  EXPECT_THAT(html, HasSubstr("fit 300 B (11 %)"));
  EXPECT_THAT(html, HasSubstr("fit 10 B (14 %)"));
}

// Returns runs without the network's volume of startup, and without two more
// metrics.
std::vector<StageRun> RunsWithUnknowns() {
  MemoryProfile profile = MakeProfile("neural_network", "csv", "10", "1000");
  RemoveMetric(ALLOCATED_USABLE_BYTES,
               profile.mutable_benchmarks(0)->mutable_phases(0));
  RemoveMetric(PEAK_MAPPED_BYTES,
               profile.mutable_benchmarks(0)->mutable_phases(2));
  profile.mutable_benchmarks(0)->clear_metrics();
  const auto runs =
      CollectRuns({profile, MakeProfile("linear_regression", "csv", "3", "5")});
  EXPECT_THAT(runs, IsOk());
  return *runs;
}

TEST(StageReportTest, TakesNothingThatIsMissingForZero) {
  const StageRun run = RunsWithUnknowns()[1];
  EXPECT_EQ(run.program, "neural_network");
  EXPECT_EQ(run.volume_bytes,
            (RunBytes{absl::nullopt, 10, 10, 10, 10, 10, 10}));
  EXPECT_EQ(run.peak_bytes,
            (RunBytes{100, 200, absl::nullopt, 400, 500, 600, 700}));
  EXPECT_EQ(run.process_peak_bytes, absl::nullopt);
}

TEST(StageReportTest, GivesNoSharesOfAnUnknownSumInTheText) {
  const std::string text = StageText(RunsWithUnknowns());
  const std::string row = "neural_network +10 x 1,000  csv( +[?]){7} +";
  EXPECT_THAT(text, ContainsRegex(row + ">=2.4 KiB\n"));
  EXPECT_THAT(text, ContainsRegex(row + ">=60 B\n"));
  EXPECT_THAT(text, HasSubstr("?: unknown, since a stage of the run is not in "
                              "the profile"));
  // The other program's metrics are known.
  EXPECT_THAT(text, HasSubstr("  csv     14.3  14.3"));
  const auto known = CollectRuns({MakeProfile("a", "csv", "3", "5")});
  EXPECT_THAT(StageText(*known), Not(HasSubstr("?")));
}

TEST(StageReportTest, GivesNoSharesOfAnUnknownSumOnThePage) {
  const std::string html = StageHtml(RunsWithUnknowns());
  EXPECT_THAT(html,
              HasSubstr("<span class=\"unknown\">startup unknown</span>"));
  EXPECT_THAT(html, HasSubstr("<span class=\"unknown\">fit unknown</span>"));
  EXPECT_THAT(html, HasSubstr("read 10 B, fit 10 B, save 10 B, load 10 B, "
                              "inference 10 B, write 10 B, startup unknown"));
  EXPECT_THAT(html, HasSubstr(">60 B + startup</td>"));
  EXPECT_THAT(html, ContainsRegex(">unknown</td><td[^>]*>10</td>"));
  EXPECT_THAT(html, HasSubstr(">at least 60</td>"));
  // The process's peak, and its excess over the table.
  EXPECT_THAT(html, ContainsRegex(">unknown</td><td[^>]*>unknown</td></tr>"));
  EXPECT_THAT(html, HasSubstr("Such a run has no shares"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  const auto known = CollectRuns({MakeProfile("a", "csv", "3", "5")});
  EXPECT_THAT(StageHtml(*known), Not(HasSubstr("unknown<")));
}

TEST(StageReportTest, TellsNearlyNothingFromNothing) {
  MemoryProfile profile = MakeProfile("program", "csv", "10", "1000");
  for (Phase& phase : *profile.mutable_benchmarks(0)->mutable_phases()) {
    SetMetric(ALLOCATED_USABLE_BYTES, 0, &phase);
  }
  SetMetric(ALLOCATED_USABLE_BYTES, 1000000,
            profile.mutable_benchmarks(0)->mutable_phases(1));
  SetMetric(ALLOCATED_USABLE_BYTES, 1,
            profile.mutable_benchmarks(0)->mutable_phases(2));
  const auto runs = CollectRuns({profile});
  ASSERT_THAT(runs, IsOk());
  EXPECT_THAT(StageText(*runs), HasSubstr("    0.0  >99.9  <0.1   0.0"));
}

TEST(StageReportTest, SaysInASentenceWhatAFigureShows) {
  const auto runs =
      CollectRuns({MakeProfile("linear_regression", "csv", "10", "1000"),
                   MakeProfile("linear_regression", "mapped", "10", "1000")});
  ASSERT_THAT(runs, IsOk());
  const std::string html = StageHtml(*runs);
  EXPECT_THAT(html, HasSubstr("The largest part of 2 runs: write in 2."));
  size_t figures = 0;
  for (size_t at = html.find("<figcaption>"); at != std::string::npos;
       at = html.find("<figcaption>", at + 1)) {
    ++figures;
    EXPECT_EQ(html.compare(html.find('\n', at) + 1, 17, "<p class=\"about\">"),
              0);
  }
  EXPECT_EQ(figures, 5u);
  EXPECT_THAT(StageHtml(RunsWithUnknowns()),
              HasSubstr("The largest part of 1 run: not known in 1."));
}

TEST(StageReportTest, LeavesStartupOutOnRequest) {
  const auto runs =
      CollectRuns({MakeProfile("linear_regression", "csv", "10", "1000")});
  ASSERT_THAT(runs, IsOk());
  const std::string html = StageHtml(*runs);
  // The share is of 2,800 with startup and of 2,700 without.
  EXPECT_THAT(html, HasSubstr("write 700 B (25 %)"));
  EXPECT_THAT(html, HasSubstr("write 700 B (26 %)"));
  EXPECT_THAT(html, HasSubstr("startup 100 B (4 %)"));
  // Startup is left out, not 0: the first column is "read".
  EXPECT_THAT(html, ContainsRegex("io</th><th[^>]*>read</th>"));
}

TEST(StageReportTest, SaysWhatTheHeapHoldsBeyondTheTable) {
  // A table of 3 + 1 columns and 5 rows has 160 bytes; a mapped one has none of
  // them in the heap.
  const auto runs =
      CollectRuns({MakeProfile("linear_regression", "csv", "3", "5"),
                   MakeProfile("linear_regression", "mapped", "3", "5")});
  ASSERT_THAT(runs, IsOk());
  const std::string html = StageHtml(*runs);
  EXPECT_THAT(html, ContainsRegex(">160 B</td><td[^>]*>900 B</td>"
                                  "<td[^>]*>740 B</td>"));
  EXPECT_THAT(html, ContainsRegex(">in the file</td><td[^>]*>900 B</td>"
                                  "<td[^>]*>900 B</td>"));
}

TEST(StageReportTest, DrawsThePeakOfFitForTextInputOnly) {
  const auto fit_chart = [](const char* other_io) {
    const auto runs = CollectRuns(
        {MakeProfile("linear_regression", "csv", "10", "1000"),
         MakeProfile("linear_regression", other_io, "10", "10000")});
    EXPECT_THAT(runs, IsOk());
    const std::string html = StageHtml(*runs);
    return html.substr(html.find("<h2>Fit"));
  };
  EXPECT_THAT(fit_chart("csv"), HasSubstr("linear_regression, 10 features"));
  EXPECT_THAT(fit_chart("csv"), HasSubstr("0.3 kB"));
  // Ten times the rows are one step of a logarithmic axis.
  EXPECT_THAT(fit_chart("csv"), HasSubstr(">1,000<"));
  EXPECT_THAT(fit_chart("csv"), Not(HasSubstr(">5,000<")));
  EXPECT_THAT(fit_chart("csv"), Not(HasSubstr(">4,000<")));
  // One point does not make a line.
  EXPECT_THAT(fit_chart("mapped"), HasSubstr("No program was measured"));
  EXPECT_THAT(fit_chart("mapped"), Not(HasSubstr("<svg")));
  EXPECT_THAT(fit_chart("mapped"),
              Not(HasSubstr("linear_regression, 10 features")));
}

TEST(StageReportTest, PutsACommaBeforeEveryThirdDigit) {
  for (const auto& [rows, text] :
       std::vector<std::pair<std::string, std::string>>{
           {"7", " 10 x 7 "},
           {"999", " 10 x 999 "},
           {"123456", " 10 x 123,456 "},
           {"1234567", " 10 x 1,234,567 "}}) {
    const auto runs = CollectRuns({MakeProfile("program", "csv", "10", rows)});
    ASSERT_THAT(runs, IsOk());
    EXPECT_THAT(StageText(*runs), HasSubstr(text));
  }
}

TEST(StageReportTest, RefusesOtherProfilesByName) {
  MemoryProfile profile = MakeProfile("linear_regression", "csv", "10", "many");
  EXPECT_THAT(CollectRuns({profile}).status().ToString(),
              HasSubstr("//gates/deployments/tabular:linear_regression: "));
  profile = MakeProfile("linear_regression", "csv", "10", "1000");
  profile.mutable_benchmarks(0)->mutable_phases(2)->set_name("training");
  EXPECT_THAT(CollectRuns({profile}).status().ToString(),
              HasSubstr("has no phase \"fit\""));
}

TEST(StageReportTest, ReportsAFailedProducer) {
  MemoryProfile profile;
  profile.set_label("//gates/deployments/tabular:neural_network");
  profile.mutable_failure()->set_standard_error_tail("data.csv:1:1: bad");
  const absl::Status status = CollectRuns({profile}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(status.ToString(), HasSubstr("data.csv:1:1: bad"));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
