// Evaluate against an oracle that knows nothing of indexes.

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/evaluate.h"
#include "footprint/gates/gate.pb.h"
#include "footprint/gates/threshold_file.h"
#include "footprint/profiling/memory_profile.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

bool OracleGlob(const std::string& glob, const std::string& text, size_t g = 0,
                size_t t = 0) {
  if (g == glob.size()) return t == text.size();
  if (glob[g] == '*') {
    for (size_t end = t; end <= text.size(); ++end) {
      if (OracleGlob(glob, text, g + 1, end)) return true;
    }
    return false;
  }
  return t < text.size() && glob[g] == text[t] &&
         OracleGlob(glob, text, g + 1, t + 1);
}

// label, benchmark, phase, metric, rule, limit, decision, location.
using Row = std::tuple<std::string, std::string, std::string, int, int, int64_t,
                       int, std::string>;

struct OracleVerdict {
  std::vector<Row> rows;
  std::multiset<int> problems;  // decisions
  int decision = ACCEPT;
};

// Straight from the definitions, quadratic, one metric after the other.
class Oracle {
 public:
  static OracleVerdict Run(const std::vector<MemoryProfile>& profiles,
                           const std::vector<ThresholdSource>& sources) {
    Oracle oracle;
    for (const MemoryProfile& profile : profiles) {
      if (profile.has_failure()) {
        oracle.verdict_.problems.insert(PRODUCER_FAILED);
        continue;
      }
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        oracle.JudgeBenchmark(profile, benchmark, sources);
      }
    }
    oracle.FindUnmatched(profiles, sources);
    oracle.FindConflicts();
    oracle.Decide();
    return oracle.verdict_;
  }

 private:
  static bool Fits(const Selector& selector, const MemoryProfile& profile,
                   const BenchmarkMemory& benchmark) {
    if (!OracleGlob(selector.label(), profile.label())) return false;
    if (!selector.benchmark().empty() &&
        !OracleGlob(selector.benchmark(), benchmark.name())) {
      return false;
    }
    for (const Argument& wanted : selector.arguments()) {
      if (std::none_of(benchmark.arguments().begin(),
                       benchmark.arguments().end(),
                       [&](const Argument& argument) {
                         return argument.name() == wanted.name() &&
                                argument.value() == wanted.value();
                       })) {
        return false;
      }
    }
    return true;
  }

  void JudgeBenchmark(const MemoryProfile& profile,
                      const BenchmarkMemory& benchmark,
                      const std::vector<ThresholdSource>& sources) {
    bool is_named = false;
    bool is_blocked = false;
    for (const ThresholdSource& source : sources) {
      for (int i = 0; i < source.file.threshold_size(); ++i) {
        const Threshold& threshold = source.file.threshold(i);
        if (!Fits(threshold.selector(), profile, benchmark)) continue;
        is_named = true;
        for (int phase = -1; phase < benchmark.phases_size(); ++phase) {
          const std::string name =
              phase < 0 ? "" : benchmark.phases(phase).name();
          const std::string& wanted = threshold.selector().phase();
          if (phase < 0 ? !wanted.empty()
                        : wanted.empty() || !OracleGlob(wanted, name)) {
            continue;
          }
          const auto& metrics = phase < 0 ? benchmark.metrics()
                                          : benchmark.phases(phase).metrics();
          for (const Metric& metric : metrics) {
            if (metric.kind() != threshold.metric()) continue;
            is_blocked |= threshold.severity() <= BLOCK;
            Hold(threshold, metric.value(), source.LocationOf(i),
                 {profile.label(), benchmark.name(), name});
          }
          const auto& unrepeated = phase < 0
                                       ? benchmark.unrepeated()
                                       : benchmark.phases(phase).unrepeated();
          for (int kind : unrepeated) {
            if (kind != threshold.metric()) continue;
            is_blocked |= threshold.severity() <= BLOCK;
            verdict_.problems.insert(
                threshold.severity() <= BLOCK ? INCONCLUSIVE : ACCEPT);
          }
        }
      }
    }
    if (!is_named) verdict_.problems.insert(BAD_CONFIGURATION);
    if (is_blocked && benchmark.forked_process_count() > 0) {
      verdict_.problems.insert(INCONCLUSIVE);
    }
  }

  void Hold(const Threshold& threshold, int64_t value,
            const std::string& location, const std::vector<std::string>& name) {
    const auto add = [&](int rule, int64_t limit, bool is_good) {
      verdict_.rows.emplace_back(name[0], name[1], name[2], threshold.metric(),
                                 rule, limit, is_good ? ACCEPT : REJECT,
                                 location);
      if (!is_good && threshold.severity() <= BLOCK) is_rejected_ = true;
    };
    if (threshold.has_max_bytes()) {
      add(MAXIMUM, threshold.max_bytes(), !(value > threshold.max_bytes()));
    }
    if (threshold.has_max_count()) {
      add(MAXIMUM, threshold.max_count(), !(value > threshold.max_count()));
    }
    if (threshold.has_exact_bytes()) {
      add(EXACT_VALUE, threshold.exact_bytes(),
          threshold.exact_bytes() == value);
    }
    if (threshold.has_exact_count()) {
      add(EXACT_VALUE, threshold.exact_count(),
          threshold.exact_count() == value);
    }
    if (threshold.has_min_bytes()) {
      add(MINIMUM, threshold.min_bytes(), !(value < threshold.min_bytes()));
    }
    if (threshold.has_min_count()) {
      add(MINIMUM, threshold.min_count(), !(value < threshold.min_count()));
    }
  }

  void FindUnmatched(const std::vector<MemoryProfile>& profiles,
                     const std::vector<ThresholdSource>& sources) {
    for (const ThresholdSource& source : sources) {
      for (const Threshold& threshold : source.file.threshold()) {
        bool is_excused = false;
        bool has_metric = false;
        for (const MemoryProfile& profile : profiles) {
          is_excused |=
              OracleGlob(threshold.selector().label(), profile.label()) &&
              profile.has_failure();
          for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
            if (!Fits(threshold.selector(), profile, benchmark)) continue;
            has_metric |= Names(threshold, benchmark);
          }
        }
        if (!is_excused && !has_metric) {
          verdict_.problems.insert(BAD_CONFIGURATION);
        }
      }
    }
  }

  static bool Names(const Threshold& threshold,
                    const BenchmarkMemory& benchmark) {
    std::vector<int> kinds;
    const auto add = [&](const auto& measured) {
      for (const Metric& metric : measured.metrics()) {
        kinds.push_back(metric.kind());
      }
      for (int kind : measured.unrepeated()) kinds.push_back(kind);
    };
    if (threshold.selector().phase().empty()) add(benchmark);
    for (const Phase& phase : benchmark.phases()) {
      if (!threshold.selector().phase().empty() &&
          OracleGlob(threshold.selector().phase(), phase.name())) {
        add(phase);
      }
    }
    return std::count(kinds.begin(), kinds.end(), threshold.metric()) > 0;
  }

  void FindConflicts() {
    std::map<std::tuple<std::string, std::string, std::string, int, int>, int>
        count;
    for (const Row& row : verdict_.rows) {
      if (++count[{std::get<0>(row), std::get<1>(row), std::get<2>(row),
                   std::get<3>(row), std::get<4>(row)}] > 1) {
        verdict_.problems.insert(BAD_CONFIGURATION);
      }
    }
  }

  void Decide() {
    const auto has = [this](int decision) {
      return verdict_.problems.count(decision) > 0;
    };
    verdict_.decision = has(BAD_CONFIGURATION) ? BAD_CONFIGURATION
                        : is_rejected_         ? REJECT
                        : has(PRODUCER_FAILED) ? PRODUCER_FAILED
                        : has(INCONCLUSIVE)    ? INCONCLUSIVE
                                               : ACCEPT;
    std::sort(verdict_.rows.begin(), verdict_.rows.end());
  }

  OracleVerdict verdict_;
  bool is_rejected_ = false;
};

class RandomCase {
 public:
  explicit RandomCase(unsigned seed) : random_(seed) {}

  std::vector<MemoryProfile> Profiles() {
    std::vector<MemoryProfile> profiles;
    for (const char* label : {"//a:a", "//a:b", "//b:a"}) {
      if (Below(4) == 0) continue;
      MemoryProfile profile;
      profile.set_label(label);
      if (Below(8) == 0) {
        profile.mutable_failure()->set_kind(ProducerFailure::EXITED);
      } else {
        for (const char* name : {"BM_A/x:1", "BM_A/x:2", "BM_B"}) {
          if (Below(3) > 0) AddBenchmark(name, &profile);
        }
        if (profile.benchmarks_size() == 0) AddBenchmark("BM_B", &profile);
      }
      profiles.push_back(profile);
    }
    if (profiles.empty()) {
      profiles.emplace_back();
      profiles[0].set_label("//a:a");
      AddBenchmark("BM_B", &profiles[0]);
    }
    return profiles;
  }

  std::vector<ThresholdSource> Sources() {
    std::vector<ThresholdSource> sources(1 + Below(2));
    int file = 0;
    for (ThresholdSource& source : sources) {
      source.path = absl::StrCat("file", ++file);
      for (int i = 0, count = 1 + Below(4); i < count; ++i) {
        FillThreshold(source.file.add_threshold());
        source.lines.push_back(i + 1);
      }
    }
    return sources;
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % bound); }
  const char* Pick(const std::vector<const char*>& of) {
    return of[static_cast<size_t>(Below(static_cast<int>(of.size())))];
  }

  template <typename Measured>
  void AddMetrics(Measured* measured) {
    for (MetricKind kind : {PEAK_LIVE_USABLE_BYTES, ALLOCATION_COUNT}) {
      if (Below(10) == 0) {
        measured->add_unrepeated(kind);
      } else if (Below(10) > 0) {
        Metric* metric = measured->add_metrics();
        metric->set_kind(kind);
        metric->set_value(Below(4));
      }
    }
  }

  void AddBenchmark(const std::string& name, MemoryProfile* profile) {
    BenchmarkMemory* benchmark = profile->add_benchmarks();
    benchmark->set_name(name);
    if (name.back() != 'B') {
      Argument* argument = benchmark->add_arguments();
      argument->set_name("x");
      argument->set_value(name.substr(name.size() - 1));
    }
    AddMetrics(benchmark);
    for (const char* phase : {"load", "fit"}) {
      if (Below(2) == 0) continue;
      benchmark->add_phases()->set_name(phase);
      AddMetrics(benchmark->mutable_phases(benchmark->phases_size() - 1));
    }
    if (Below(12) == 0) benchmark->set_forked_process_count(1);
  }

  void FillThreshold(Threshold* threshold) {
    Selector* selector = threshold->mutable_selector();
    selector->set_label(
        Pick({"//a:a", "//a:b", "//b:a", "//a:*", "*", "*:a", "//*"}));
    selector->set_benchmark(
        Pick({"", "", "*", "BM_A*", "BM_A/x:1", "BM_B", "*1"}));
    selector->set_phase(Pick({"", "", "", "load", "fit", "*", "*t"}));
    if (Below(6) == 0) {
      selector->add_arguments()->set_name("x");
      selector->mutable_arguments(0)->set_value(Pick({"1", "2"}));
    }
    threshold->set_severity(
        static_cast<Severity>(Below(3) == 0 ? Below(4) : 0));
    const bool is_count = Below(2) == 0;
    threshold->set_metric(is_count ? ALLOCATION_COUNT : PEAK_LIVE_USABLE_BYTES);
    const int value = Below(5);
    const int sort = Below(4);
    if (sort == 0) {
      is_count ? threshold->set_exact_count(value)
               : threshold->set_exact_bytes(value);
      return;
    }
    if (sort != 1) {
      is_count ? threshold->set_max_count(value)
               : threshold->set_max_bytes(value);
    }
    if (sort != 2) {
      is_count ? threshold->set_min_count(value / 2)
               : threshold->set_min_bytes(value / 2);
    }
  }

  std::mt19937 random_;
};

TEST(EvaluatePropertyTest, AgreesWithTheOracle) {
  EvaluationOptions options;
  options.is_complete = true;
  std::map<int, int> seen;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    RandomCase random(seed);
    const std::vector<MemoryProfile> profiles = random.Profiles();
    const std::vector<ThresholdSource> sources = random.Sources();
    const OracleVerdict expected = Oracle::Run(profiles, sources);
    const Verdict verdict = Evaluate(profiles, sources, options);
    std::vector<Row> rows;
    for (const Judgement& judgement : verdict.judgements()) {
      rows.emplace_back(judgement.label(), judgement.benchmark(),
                        judgement.phase(), judgement.metric(), judgement.rule(),
                        judgement.limit(), judgement.decision(),
                        judgement.threshold_location());
    }
    std::sort(rows.begin(), rows.end());
    std::multiset<int> problems;
    for (const Problem& problem : verdict.problems()) {
      problems.insert(problem.decision());
    }
    ASSERT_EQ(rows, expected.rows) << seed;
    ASSERT_EQ(problems, expected.problems) << seed << verdict.DebugString();
    ASSERT_EQ(verdict.decision(), expected.decision) << seed;
    ++seen[verdict.decision()];
  }
  // The cases are worth something only if every decision occurs.
  for (Decision decision :
       {ACCEPT, REJECT, BAD_CONFIGURATION, PRODUCER_FAILED, INCONCLUSIVE}) {
    EXPECT_GT(seen[decision], 10) << Decision_Name(decision);
  }
}

}  // namespace
}  // namespace footprint
