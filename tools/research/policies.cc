// Compares the false alarms and the power of every policy on the same samples.
//
//   bazel run -c opt //tools/research:policies [-- TRIALS]
//
// A trial draws a baseline of 30 runs, and up to 59 runs of a program that grew
// by the column's share. Footprint's policy judges 9, 30 and 59 of them; one
// row stops at 30. Rivals use the baseline as their history, and the first run.
// Measured noise is drawn from 400 runs of noisy_program. Made noise has
// deviations that were measured in other programs. Sizes are whole pages.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/gates/statistics/rank_test.h"
#include "footprint/gates/statistics/regression_decision.h"
#include "footprint/tools/research/rival_policies.h"

namespace footprint {
namespace {

constexpr double kTypicalBytes = 20e6;
constexpr double kResidentStepBytes = 4096;
constexpr double kChanges[] = {0, 0.005, 0.01, 0.02, 0.05, 0.10};
constexpr size_t kChangeCount = sizeof(kChanges) / sizeof(kChanges[0]);
constexpr RegressionRule kRule = {0.005, 0.02};
constexpr size_t kBaselineRuns = 30;

// A deviation from the median, as a share of the median.
using Deviate = std::function<double(RandomSequence* random)>;

struct Noise {
  std::string name;
  Deviate deviate;
};

double Normal(RandomSequence* random) { return random->Normal(); }

// Returns one of few values, like a program with one thread.
double FewValues(RandomSequence* random) {
  return std::round(4 * random->Normal()) / 4;
}

// In one run of five the allocator takes one block more.
double TwoModes(RandomSequence* random) {
  return 0.5 * random->Normal() + (random->Uniform() < 0.2 ? 2 : 0);
}

// Late threads make some runs high, which gives an exponential tail.
double LongTail(RandomSequence* random) {
  return -std::log(1 - random->Uniform()) - 1;
}

Noise Made(const char* name, double deviation,
           double (*shape)(RandomSequence*)) {
  return {absl::StrFormat("made: %s, deviation %.2f %%", name, 100 * deviation),
          [=](RandomSequence* random) { return deviation * shape(random); }};
}

// Draws with replacement from runs that were really made.
Noise Measured(const char* name, const char* path) {
  std::vector<double> runs;
  std::ifstream file(path);
  for (double bytes = 0; file >> bytes;) runs.push_back(bytes);
  if (runs.empty()) {
    std::fprintf(stderr, "policies: %s: no runs; run it by bazel run\n", path);
    std::exit(2);
  }
  const double median = ComputeMedian(runs);
  for (double& run : runs) run = run / median - 1;
  return {absl::StrFormat("measured: %s, %u runs", name, runs.size()),
          [runs](RandomSequence* random) {
            return runs[random->Below(runs.size())];
          }};
}

std::vector<Noise> Noises() {
  return {
      Measured("one thread", "tools/research/testdata/resident_1_thread.txt"),
      Measured("two threads", "tools/research/testdata/resident_2_threads.txt"),
      Made("one thread, few values", 0.0012, FewValues),
      Made("two threads", 0.0137, Normal),
      Made("two modes", 0.0137, TwoModes),
      Made("long tail", 0.0137, LongTail),
      Made("four threads", 0.0206, Normal)};
}

std::vector<double> Runs(const Noise& noise, size_t count, double change,
                         RandomSequence* random) {
  std::vector<double> runs;
  for (size_t i = 0; i < count; ++i) {
    const double bytes =
        kTypicalBytes * (1 + change) * (1 + noise.deviate(random));
    runs.push_back(kResidentStepBytes * std::round(bytes / kResidentStepBytes));
  }
  return runs;
}

struct Row {
  std::string name;
  int alarms[kChangeCount] = {};
  int undecided[kChangeCount] = {};
  bool has_three_verdicts = false;
};

using Sample = absl::Span<const double>;

// Judges up to `most_runs` runs by the schedule.
SampleDecision::Kind Follow(Sample baseline, Sample runs, int64_t most_runs) {
  SampleDecision::Kind kind = SampleDecision::kInconclusive;
  for (int64_t look : kSampleSchedule) {
    if (look > most_runs || kind != SampleDecision::kInconclusive) break;
    kind = JudgeRegression(baseline, runs.subspan(0, static_cast<size_t>(look)),
                           kRule)
               .kind;
  }
  return kind;
}

std::vector<Row> EmptyRows() {
  std::vector<Row> rows(4);
  rows[0].name = "Footprint, at most 30 + 30 runs";
  rows[1].name = "Footprint, at most 30 + 59 runs";
  rows[0].has_three_verdicts = rows[1].has_three_verdicts = true;
  rows[2].name = "U test alone, 30 + 30 runs, 0.001";
  rows[3].name = "median of 9 + 1 %";
  for (const RivalPolicy& policy : RivalPolicies()) {
    Row row;
    row.name = policy.name;
    rows.push_back(row);
  }
  return rows;
}

void RunTrial(const Noise& noise, size_t change, RandomSequence* random,
              std::vector<Row>* rows) {
  const std::vector<double> baseline = Runs(noise, kBaselineRuns, 0, random);
  const std::vector<double> runs = Runs(
      noise, static_cast<size_t>(kSampleSchedule[2]), kChanges[change], random);
  for (size_t i = 0; i < 2; ++i) {
    const SampleDecision::Kind kind =
        Follow(baseline, runs, kSampleSchedule[i + 1]);
    Row& row = (*rows)[i];
    row.alarms[change] += kind == SampleDecision::kReject ? 1 : 0;
    row.undecided[change] += kind == SampleDecision::kInconclusive ? 1 : 0;
  }
  const Sample thirty = Sample(runs).subspan(0, kBaselineRuns);
  (*rows)[2].alarms[change] +=
      RankTestPValue(baseline, thirty) <= kFalseAlarmShare ? 1 : 0;
  (*rows)[3].alarms[change] +=
      ComputeMedian(Sample(runs).subspan(0, 9)) >
              1.01 * ComputeMedian(Sample(baseline).subspan(0, 9))
          ? 1
          : 0;
  for (size_t i = 0; i < RivalPolicies().size(); ++i) {
    (*rows)[4 + i].alarms[change] +=
        RivalPolicies()[i].alarms(baseline, runs[0]) ? 1 : 0;
  }
}

void PrintRow(const Row& row, int trials) {
  std::string text = absl::StrFormat("  %-34s", row.name);
  for (size_t i = 0; i < kChangeCount; ++i) {
    absl::StrAppendFormat(&text, " %7.2f", 100.0 * row.alarms[i] / trials);
  }
  std::puts(text.c_str());
  if (!row.has_three_verdicts) return;
  text = absl::StrFormat("  %-34s", "  inconclusive besides");
  for (size_t i = 0; i < kChangeCount; ++i) {
    absl::StrAppendFormat(&text, " %7.2f", 100.0 * row.undecided[i] / trials);
  }
  std::puts(text.c_str());
}

int Main(int trials) {
  std::printf("Rejections in per cent of %d trials, by the growth\n", trials);
  RandomSequence random(20261122);
  for (const Noise& noise : Noises()) {
    std::vector<Row> rows = EmptyRows();
    for (size_t change = 0; change < kChangeCount; ++change) {
      for (int i = 0; i < trials; ++i) {
        RunTrial(noise, change, &random, &rows);
      }
    }
    std::string heading = absl::StrFormat("\n%s\n%36s", noise.name, "");
    for (double change : kChanges) {
      absl::StrAppendFormat(&heading, " %+6.1f%%", 100 * change);
    }
    std::puts(heading.c_str());
    for (const Row& row : rows) PrintRow(row, trials);
  }
  return 0;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 10000;
  if (trials < 1) {
    std::fputs("policies: TRIALS is a whole number of at least 1\n", stderr);
    return 2;
  }
  return footprint::Main(trials);
}
