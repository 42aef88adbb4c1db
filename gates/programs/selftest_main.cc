// Plants regressions into running programs, and reports which of them the gates
// catch. The rule memory_gate_selftest of gates/defs.bzl runs it and gives it a
// manifest and the programs.

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/text/progress_bar.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/gates/regressions/producer_run.h"
#include "footprint/gates/regressions/regression_plan.h"
#include "footprint/gates/regressions/selftest_result.h"

namespace footprint {
namespace {

constexpr char kProgram[] = "selftest";

constexpr char kHelp[] =
    R"(Plants regressions into running programs, and counts those that the gates
catch.

  bazel run //gates:selftest
  bazel run //gates:selftest -- --count=400 --seed=2
  bazel run //gates:selftest -- --only='//memo*'

Each program that the suite judges runs with a heap that can plant a mistake
where the program makes its calls: a block a byte larger, one more block, a
block that is freed later, a copy that is kept, a leak at each step, elements
twice as large, growth with an argument, memory held through a stage, more
calls, more mapped. It is measured as ever, in three processes, and judged by
the thresholds that are checked in. A regression is planted where, by the
program's own calls, a judged figure must grow by more than its limits leave:
by a byte where an exact value stands, at most to twice the figure.

Flags
  --count=N          the number of regressions to plant (default: 240)
  --seed=N           the seed by which they are drawn (default: 1)
  --benchmarks=N     the most benchmarks of each program to plant them into
                     (default: 8)
  --seconds=N        leave out benchmarks whose three runs take more processor
                     time than this (default: 10)
  --only=GLOB        plant only into deployments whose label matches
  --output=FILE      the file to write (default: standard output)
  --help             print this text

The columns exact, max and ratio count the caught regressions by the rules that
rejected them; several rules may reject one. The column other counts those for
which the gate was inconclusive.

Exit status
  0  --count regressions were planted as planned, and at least 99 % were caught
  1  fewer were planted as planned, or fewer were caught
  2  a mistake, which the message names, or the gates reject the programs without
     a regression
)";

struct Options {
  size_t count = 240;
  uint64_t seed = 1;
  size_t benchmark_count = 8;
  uint64_t seconds = 10;
  std::string only = "*";
  std::string output;
};

absl::StatusOr<uint64_t> Number(const CommandFlags& flags,
                                const std::string& name, uint64_t otherwise) {
  uint64_t number = otherwise;
  const std::string text = flags.Value(name, "");
  if (text.empty() && !flags.Has(name)) return otherwise;
  if (absl::SimpleAtoi(text, &number) && number > 0) return number;
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, "=", text, " must be a whole number above 0"));
}

absl::StatusOr<Options> ReadOptions(const CommandFlags& flags) {
  Options options;
  const absl::StatusOr<uint64_t> count = Number(flags, "count", options.count);
  const absl::StatusOr<uint64_t> seed = Number(flags, "seed", options.seed);
  const absl::StatusOr<uint64_t> benchmarks =
      Number(flags, "benchmarks", options.benchmark_count);
  const absl::StatusOr<uint64_t> seconds =
      Number(flags, "seconds", options.seconds);
  for (const auto* number : {&count, &seed, &benchmarks, &seconds}) {
    if (!number->ok()) return number->status();
  }
  options.count = static_cast<size_t>(*count);
  options.seed = *seed;
  options.benchmark_count = static_cast<size_t>(*benchmarks);
  options.seconds = *seconds;
  options.only = flags.Value("only", "*");
  if (!IsGlob(options.only)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only=", options.only, " is not a pattern of a label"));
  }
  options.output = flags.Value("output", "");
  return options;
}

// Parses the rule's flags --producer=LABEL=SAMPLER.
absl::StatusOr<std::vector<Producer>> ReadProducers(const CommandFlags& flags,
                                                    const std::string& only) {
  std::vector<Producer> producers;
  for (const std::string& text : flags.Values("producer")) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (!GlobMatches(only, parts.first)) continue;
    producers.push_back({parts.first, parts.second});
  }
  if (!producers.empty()) return producers;
  return absl::InvalidArgumentError(absl::StrCat(
      "no program named in ", GateTarget("selftest"), " is named by ", only));
}

// Number of regressions of each sort for a figure, with different calls and
// sizes.
constexpr int kDraws = 3;

// Returns the processor time of all children that ended. With wall-clock time,
// a busy machine would skip other benchmarks.
uint64_t ProcessorSecondsOfChildren() {
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  return static_cast<uint64_t>(children.ru_utime.tv_sec +
                               children.ru_stime.tv_sec);
}

bool IsRunByGoogleBenchmark(const BenchmarkMemory& benchmark) {
  return std::any_of(benchmark.phases().begin(), benchmark.phases().end(),
                     [](const Phase& phase) { return phase.name() == "loop"; });
}

// Returns at most `count` of the names, evenly spread.
std::vector<std::string> Spread(const std::vector<std::string>& names,
                                size_t count) {
  if (names.size() <= count) return names;
  std::vector<std::string> spread;
  for (size_t i = 0; i < count; ++i) {
    spread.push_back(names[i * names.size() / count]);
  }
  return spread;
}

class Selftest {
 public:
  Selftest(const JudgedSuite& suite, const EvaluationOptions& judging,
           const Options& options, std::string folder)
      : suite_(suite),
        judging_(judging),
        options_(options),
        folder_(std::move(folder)),
        figures_(JudgedFigures(suite.verdict)),
        random_(options.seed) {}

  SelftestResult Run(const std::vector<Producer>& producers) {
    result_.asked_count = options_.count;
    PlanForAll(producers);
    NameUncovered(producers);
    TryAll(Choose());
    return std::move(result_);
  }

 private:
  struct Candidate {
    Producer producer;
    PlannedRegression planned;
  };

  std::vector<std::string> ListBenchmarks(const std::string& label) const {
    std::vector<std::string> names;
    for (const JudgedFigure& figure : figures_) {
      const bool is_new = std::find(names.begin(), names.end(),
                                    figure.benchmark) == names.end();
      if (figure.label == label && is_new) names.push_back(figure.benchmark);
    }
    return names;
  }

  void PlanForAll(const std::vector<Producer>& producers) {
    ProgressBar progress(stderr, "recording", "programs");
    const int64_t count = static_cast<int64_t>(producers.size());
    for (int64_t i = 0; i < count; ++i) {
      progress.Update(i, count);
      PlanFor(producers[static_cast<size_t>(i)]);
    }
    progress.Update(count, count);
  }

  void PlanFor(Producer producer) {
    std::vector<std::string> names = ListBenchmarks(producer.label);
    if (names.empty()) {
      result_.untried.push_back({producer.label, "",
                                 "no blocking limit from "
                                 "above judges it"});
      return;
    }
    const BenchmarkMemory* const first =
        FindBenchmark(suite_.input.profiles, producer.label, names[0]);
    producer.has_filter = first != nullptr && IsRunByGoogleBenchmark(*first);
    // A producer without a filter runs what its arguments say, whatever
    // benchmark is wanted.
    if (!producer.has_filter) names = {""};
    const std::vector<std::string> spread =
        Spread(names, options_.benchmark_count);
    for (const std::string& name : spread) {
      const absl::Status status = PlanProducer(producer, name);
      if (!status.ok()) {
        result_.untried.push_back(
            {producer.label, name, std::string(status.message())});
      }
    }
  }

  absl::Status PlanProducer(const Producer& producer, const std::string& name) {
    const uint64_t begin = ProcessorSecondsOfChildren();
    const absl::StatusOr<RecordedRun> run =
        RecordProducer(producer, name, folder_);
    if (!run.ok()) return run.status();
    const uint64_t taken = ProcessorSecondsOfChildren() - begin;
    if (taken > options_.seconds) {
      return absl::ResourceExhaustedError(
          absl::StrCat("takes ", taken, " s of a processor each time; ",
                       "--seconds=", taken * 2, " takes it in"));
    }
    if (run->profile.benchmarks_size() != 1) {
      return absl::FailedPreconditionError(
          absl::StrCat("its run measures ", run->profile.benchmarks_size(),
                       " benchmarks, where one is expected"));
    }
    BenchmarkMemory measured = run->profile.benchmarks(0);
    const BenchmarkMemory* const before =
        FindBenchmark(suite_.input.profiles, producer.label, measured.name());
    if (before != nullptr) TakeImage(*before, &measured);
    // The library that plants regressions must not change the figures by
    // itself.
    if (before == nullptr ||
        measured.SerializeAsString() != before->SerializeAsString()) {
      return absl::FailedPreconditionError(
          absl::StrCat("without a regression ", measured.name(),
                       " has other figures than its profile"));
    }
    AddCandidates(producer, *before, run->record);
    return absl::OkStatus();
  }

  // Adds regressions of every sort for each figure of the benchmark.
  void AddCandidates(const Producer& producer, const BenchmarkMemory& before,
                     const AllocationRecord& record) {
    for (const JudgedFigure& figure : figures_) {
      if (figure.label != producer.label || figure.benchmark != before.name()) {
        continue;
      }
      for (const RegressionSortName& sort : kRegressionSorts) {
        for (int draw = 0; draw < kDraws; ++draw) {
          AddCandidate(producer, PlanRegression(sort.sort, figure, before,
                                                record, &random_));
        }
      }
    }
  }

  // Adds a candidate unless it equals the last one.
  void AddCandidate(const Producer& producer,
                    const absl::optional<PlannedRegression>& planned) {
    if (!planned.has_value()) return;
    std::vector<Candidate>& candidates = candidates_[planned->sort];
    if (!candidates.empty()) {
      const PlannedRegression& last = candidates.back().planned;
      if (last.figure.benchmark == planned->figure.benchmark &&
          last.planted.call == planned->planted.call &&
          last.planted.bytes == planned->planted.bytes &&
          last.planted.count == planned->planted.count) {
        return;
      }
    }
    candidates.push_back({producer, *planned});
  }

  void NameUncovered(const std::vector<Producer>& producers) {
    std::set<std::string> covered;
    for (const Producer& producer : producers) covered.insert(producer.label);
    std::set<std::string> uncovered;
    for (const JudgedFigure& figure : figures_) {
      if (covered.count(figure.label) == 0 &&
          GlobMatches(options_.only, figure.label)) {
        uncovered.insert(figure.label);
      }
    }
    result_.uncovered.assign(uncovered.begin(), uncovered.end());
  }

  // Chooses candidates at random, from each sort in turn.
  std::vector<Candidate> Choose() {
    std::vector<Candidate> chosen;
    while (chosen.size() < options_.count) {
      const size_t before = chosen.size();
      for (auto& [sort, candidates] : candidates_) {
        if (candidates.empty() || chosen.size() == options_.count) continue;
        const auto at = candidates.begin() +
                        static_cast<int64_t>(random_.Below(candidates.size()));
        chosen.push_back(std::move(*at));
        candidates.erase(at);
      }
      if (chosen.size() == before) break;
    }
    return chosen;
  }

  void TryAll(const std::vector<Candidate>& chosen) {
    ProgressBar progress(stderr, "planting", "regressions");
    const int64_t count = static_cast<int64_t>(chosen.size());
    for (int64_t i = 0; i < count; ++i) {
      progress.Update(i, count);
      Try(chosen[static_cast<size_t>(i)]);
    }
    progress.Update(count, count);
  }

  void Try(const Candidate& candidate) {
    const absl::StatusOr<PlantedRun> run =
        RunPlanted(candidate.producer, candidate.planned.figure.benchmark,
                   candidate.planned.planted, folder_);
    if (run.ok()) {
      result_.trials.push_back(
          JudgeTrial(candidate.planned, *run, suite_.input, judging_));
      return;
    }
    RegressionTrial trial;
    trial.planned = candidate.planned;
    trial.why = std::string(run.status().message());
    result_.trials.push_back(std::move(trial));
  }

  const JudgedSuite& suite_;
  const EvaluationOptions judging_;
  const Options options_;
  const std::string folder_;
  const std::vector<JudgedFigure> figures_;
  RandomSequence random_;
  std::map<RegressionSort, std::vector<Candidate>> candidates_;
  SelftestResult result_;
};

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = ParseSuiteFlags(
      arguments, {"count", "seed", "benchmarks", "seconds", "only", "producer"},
      {});
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", 0);
  const absl::StatusOr<Options> options = ReadOptions(*flags);
  if (!options.ok()) return Complain(kProgram, options.status().message());
  const absl::StatusOr<std::vector<Producer>> producers =
      ReadProducers(*flags, options->only);
  if (!producers.ok()) return Complain(kProgram, producers.status().message());
  const absl::StatusOr<JudgedSuite> suite = JudgeSuite(*flags);
  if (!suite.ok()) return Complain(kProgram, suite.status().message());
  if (suite->verdict.decision() != ACCEPT) {
    return Complain(kProgram, absl::StrCat("the gates do not accept without a "
                                           "regression; see bazel run ",
                                           GateTarget("check")));
  }
  const std::string test_folder = EnvironmentValue("TEST_TMPDIR");
  TemporaryFolder folder;
  const absl::Status made =
      folder.Create(test_folder.empty() ? TemporaryFolderParent() : test_folder,
                    "footprint-selftest");
  if (!made.ok()) return Complain(kProgram, made.message());
  Selftest selftest(*suite, SuiteEvaluationOptions(*flags), *options,
                    folder.path());
  const SelftestResult result = selftest.Run(*producers);
  return FinishProgram(kProgram, WriteSelftestText(result), options->output,
                       result.IsPassed() ? 0 : 1);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
