// Compares Evaluate with a naive oracle that uses no index.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
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

bool IsOwn(const ThresholdSource& source, const MemoryProfile& profile) {
  return !source.file.has_environment() ||
         source.file.environment().compiler() ==
             profile.environment().compiler();
}

// The measurements that a rule names in one benchmark.
struct OracleFind {
  struct One {
    int phase;
    const Metric* metric;  // null: it did not repeat
  };
  std::vector<One> found;
  bool is_whole = false;
};

OracleFind Look(const Threshold& threshold, const BenchmarkMemory& benchmark) {
  OracleFind find;
  int named = 0;
  int lost = 0;
  const auto look = [&](int phase, const auto& measured) {
    ++named;
    const size_t before = find.found.size();
    for (const Metric& metric : measured.metrics()) {
      if (metric.kind() == threshold.metric()) {
        find.found.push_back({phase, &metric});
      }
    }
    for (int kind : measured.unrepeated()) {
      if (kind == threshold.metric()) find.found.push_back({phase, nullptr});
    }
    lost += find.found.size() == before ? 1 : 0;
  };
  if (threshold.selector().phase().empty()) look(-1, benchmark);
  for (int i = 0; i < benchmark.phases_size(); ++i) {
    if (!threshold.selector().phase().empty() &&
        OracleGlob(threshold.selector().phase(), benchmark.phases(i).name())) {
      look(i, benchmark.phases(i));
    }
  }
  find.is_whole = named > 0 && lost == 0;
  return find;
}

// Follows the definitions literally, in quadratic time, one metric after the
// other.
class Oracle {
 public:
  static OracleVerdict Run(const std::vector<MemoryProfile>& profiles,
                           const std::vector<ThresholdSource>& sources,
                           bool is_complete) {
    Oracle oracle;
    for (const MemoryProfile& profile : profiles) {
      if (profile.has_failure()) {
        oracle.verdict_.problems.insert(PRODUCER_FAILED);
        continue;
      }
      if (profile.process_count() < 3) {
        oracle.verdict_.problems.insert(INCONCLUSIVE);
      }
      oracle.FindForeign(profile, sources);
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        oracle.JudgeBenchmark(profile, benchmark, sources);
      }
    }
    oracle.FindUnmatched(profiles, sources, is_complete);
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

  // Fills `excused_` with the benchmarks that get an ENVIRONMENT_MISMATCH.
  void FindForeign(const MemoryProfile& profile,
                   const std::vector<ThresholdSource>& sources) {
    excused_.clear();
    std::set<std::string> named;
    // [0]: rules of files for its own environment; [1]: of files for others.
    std::map<std::tuple<std::string, int, int>,
             std::array<std::vector<const Threshold*>, 2>>
        seen;
    bool has_own = false;
    bool has_foreign = false;
    for (const ThresholdSource& source : sources) {
      if (!source.file.has_environment()) continue;
      const bool is_own = IsOwn(source, profile);
      for (const Threshold& threshold : source.file.threshold()) {
        if (!OracleGlob(threshold.selector().label(), profile.label())) {
          continue;
        }
        (is_own ? has_own : has_foreign) = true;
        for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
          if (!Fits(threshold.selector(), profile, benchmark)) continue;
          if (!is_own) named.insert(benchmark.name());
          for (const auto& one : Look(threshold, benchmark).found) {
            const std::string phase =
                one.phase < 0 ? "" : benchmark.phases(one.phase).name();
            if (IsOverridden(profile, benchmark, sources, source, threshold,
                             phase)) {
              continue;
            }
            seen[{benchmark.name(), one.phase, threshold.metric()}]
                [is_own ? 0 : 1]
                    .push_back(&threshold);
          }
        }
      }
    }
    if (!has_foreign) return;
    if (!has_own) {
      verdict_.problems.insert(ENVIRONMENT_MISMATCH);
      excused_ = named;
      return;
    }
    for (const auto& [key, rules] : seen) {
      for (const Threshold* foreign : rules[1]) {
        bool is_kept = false;
        for (const Threshold* own : rules[0]) {
          is_kept |= (Blocks(*own) || !Blocks(*foreign)) &&
                     (LimitsHighest(*own) || !LimitsHighest(*foreign));
        }
        if (!is_kept) excused_.insert(std::get<0>(key));
      }
    }
    if (!excused_.empty()) verdict_.problems.insert(ENVIRONMENT_MISMATCH);
  }

  static bool Blocks(const Threshold& threshold) {
    return threshold.severity() <= BLOCK;
  }

  static bool LimitsHighest(const Threshold& threshold) {
    return threshold.has_max_bytes() || threshold.has_max_count() ||
           threshold.has_exact_bytes() || threshold.has_exact_count();
  }

  void JudgeBenchmark(const MemoryProfile& profile,
                      const BenchmarkMemory& benchmark,
                      const std::vector<ThresholdSource>& sources) {
    bool is_limited = false;
    bool is_judged = false;
    bool is_blocked = false;
    for (const ThresholdSource& source : sources) {
      if (!IsOwn(source, profile)) continue;
      for (int i = 0; i < source.file.threshold_size(); ++i) {
        const Threshold& threshold = source.file.threshold(i);
        if (!Fits(threshold.selector(), profile, benchmark)) continue;
        is_limited |=
            Blocks(threshold) && LimitsHighest(threshold) &&
            threshold.metric() == PEAK_LIVE_USABLE_BYTES &&
            threshold.selector().phase().empty() &&
            !Look(threshold, benchmark).found.empty() &&
            !IsOverridden(profile, benchmark, sources, source, threshold, "");
        for (const auto& one : Look(threshold, benchmark).found) {
          const std::string phase =
              one.phase < 0 ? "" : benchmark.phases(one.phase).name();
          if (IsOverridden(profile, benchmark, sources, source, threshold,
                           phase)) {
            continue;
          }
          is_judged = true;
          is_blocked |= threshold.severity() <= BLOCK;
          if (one.metric == nullptr) {
            verdict_.problems.insert(
                threshold.severity() <= BLOCK ? INCONCLUSIVE : ACCEPT);
          } else if (one.metric->determinism() != EXACT && IsExact(threshold)) {
            verdict_.problems.insert(BAD_CONFIGURATION);
          } else {
            Hold(threshold, one.metric->value(), source.DescribeLocation(i),
                 {profile.label(), benchmark.name(),
                  one.phase < 0 ? "" : benchmark.phases(one.phase).name()});
          }
        }
      }
    }
    if (!is_limited && excused_.count(benchmark.name()) == 0) {
      verdict_.problems.insert(BAD_CONFIGURATION);
    }
    if (is_judged && benchmark.forked_process_count() > 0) {
      verdict_.problems.insert(is_blocked ? INCONCLUSIVE : ACCEPT);
    }
  }

  // Returns whether a glob matches all that another one does: it matches that
  // one's text with '#', which is in no glob, for each star.
  static bool Holds(const std::string& glob, std::string part) {
    std::replace(part.begin(), part.end(), '*', '#');
    return OracleGlob(glob, part);
  }

  static bool IsPart(const Selector& part, const Selector& whole) {
    const std::string part_name =
        part.benchmark().empty() ? "*" : part.benchmark();
    const std::string whole_name =
        whole.benchmark().empty() ? "*" : whole.benchmark();
    // The cases have at most one argument, always of the same name.
    const bool has_arguments =
        whole.arguments().empty() ||
        (!part.arguments().empty() &&
         part.arguments(0).value() == whole.arguments(0).value());
    return Holds(whole.label(), part.label()) && Holds(whole_name, part_name) &&
           part.phase().empty() == whole.phase().empty() &&
           Holds(whole.phase(), part.phase()) && has_arguments;
  }

  static bool HaveOneSort(const Threshold& a, const Threshold& b) {
    return (a.has_max_bytes() && b.has_max_bytes()) ||
           (a.has_max_count() && b.has_max_count()) ||
           (a.has_exact_bytes() && b.has_exact_bytes()) ||
           (a.has_exact_count() && b.has_exact_count()) ||
           (a.has_min_bytes() && b.has_min_bytes()) ||
           (a.has_min_count() && b.has_min_count());
  }

  // Returns whether a more particular threshold judges the measurement, which
  // `threshold` names.
  static bool IsOverridden(const MemoryProfile& profile,
                           const BenchmarkMemory& benchmark,
                           const std::vector<ThresholdSource>& sources,
                           const ThresholdSource& home,
                           const Threshold& threshold,
                           const std::string& phase) {
    for (const ThresholdSource& source : sources) {
      if (IsOwn(home, profile) ? !IsOwn(source, profile) : &source != &home) {
        continue;
      }
      for (const Threshold& other : source.file.threshold()) {
        if (HaveOneSort(other, threshold) &&
            Fits(other.selector(), profile, benchmark) &&
            other.selector().phase().empty() == phase.empty() &&
            OracleGlob(other.selector().phase(), phase) &&
            IsPart(other.selector(), threshold.selector()) &&
            !IsPart(threshold.selector(), other.selector())) {
          return true;
        }
      }
    }
    return false;
  }

  static bool IsExact(const Threshold& threshold) {
    const bool has_maximum =
        threshold.has_max_bytes() || threshold.has_max_count();
    const bool has_minimum =
        threshold.has_min_bytes() || threshold.has_min_count();
    return threshold.has_exact_bytes() || threshold.has_exact_count() ||
           (has_maximum && has_minimum &&
            threshold.max_bytes() + threshold.max_count() ==
                threshold.min_bytes() + threshold.min_count());
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
                     const std::vector<ThresholdSource>& sources,
                     bool is_complete) {
    for (const ThresholdSource& source : sources) {
      const bool may_pass_over = source.file.shared() && !is_complete;
      int labelled = 0;
      for (const Threshold& threshold : source.file.threshold()) {
        if (!HasLabel(threshold, profiles)) {
          if (!may_pass_over) verdict_.problems.insert(BAD_CONFIGURATION);
          continue;
        }
        ++labelled;
        if (IsUnmatched(source, threshold, profiles)) {
          verdict_.problems.insert(BAD_CONFIGURATION);
        }
      }
      if (may_pass_over && labelled == 0) {
        verdict_.problems.insert(BAD_CONFIGURATION);
      }
    }
  }

  static bool HasLabel(const Threshold& threshold,
                       const std::vector<MemoryProfile>& profiles) {
    return std::any_of(
        profiles.begin(), profiles.end(), [&](const MemoryProfile& profile) {
          return OracleGlob(threshold.selector().label(), profile.label());
        });
  }

  static bool IsUnmatched(const ThresholdSource& source,
                          const Threshold& threshold,
                          const std::vector<MemoryProfile>& profiles) {
    bool is_excused = false;
    bool is_judging = false;
    bool has_metric = false;
    bool is_lost = false;
    for (const MemoryProfile& profile : profiles) {
      if (!OracleGlob(threshold.selector().label(), profile.label())) continue;
      is_excused |= profile.has_failure();
      is_judging |= IsOwn(source, profile);
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        if (!Fits(threshold.selector(), profile, benchmark)) continue;
        const OracleFind find = Look(threshold, benchmark);
        has_metric |= !find.found.empty();
        is_lost |= IsOwn(source, profile) && !find.is_whole;
      }
    }
    return is_lost || (is_judging && !is_excused && !has_metric);
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
    verdict_.decision = has(BAD_CONFIGURATION)      ? BAD_CONFIGURATION
                        : is_rejected_              ? REJECT
                        : has(PRODUCER_FAILED)      ? PRODUCER_FAILED
                        : has(ENVIRONMENT_MISMATCH) ? ENVIRONMENT_MISMATCH
                        : has(INCONCLUSIVE)         ? INCONCLUSIVE
                                                    : ACCEPT;
    std::sort(verdict_.rows.begin(), verdict_.rows.end());
  }

  OracleVerdict verdict_;
  std::set<std::string> excused_;
  bool is_rejected_ = false;
};

class RandomCase {
 public:
  explicit RandomCase(unsigned seed) : random_(seed) {
    is_calm_ = Below(3) == 0;
  }

  std::vector<MemoryProfile> Profiles() {
    std::vector<MemoryProfile> profiles;
    for (const char* label : {"//a:a", "//a:b", "//b:a"}) {
      if (Below(4) == 0) continue;
      MemoryProfile profile;
      profile.set_label(label);
      profile.set_process_count(Below(16) == 0 ? Below(3) : 3);
      profile.mutable_environment()->set_compiler(Below(3) == 0 ? "y" : "x");
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
      profiles[0].set_process_count(3);
      AddBenchmark("BM_B", &profiles[0]);
    }
    return profiles;
  }

  std::vector<ThresholdSource> Sources() {
    std::vector<ThresholdSource> sources(1 + Below(2));
    int file = 0;
    for (ThresholdSource& source : sources) {
      source.path = absl::StrCat("file", ++file);
      source.file.set_shared(Below(2) == 0);
      if (Below(3) == 0) {
        source.file.mutable_environment()->set_compiler(Pick({"x", "y"}));
      }
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
      } else if (is_calm_ || Below(20) > 0) {
        Metric* metric = measured->add_metrics();
        metric->set_kind(kind);
        metric->set_determinism(Below(12) == 0 ? BOUNDED : EXACT);
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
    if (is_calm_) {
      selector->Clear();
      selector->set_label("*");
    }
    threshold->set_severity(
        static_cast<Severity>(Below(3) == 0 ? Below(4) : 0));
    // Most thresholds limit a peak, so that not every case is refused for lack
    // of such a limit.
    const bool is_count = Below(is_calm_ ? 6 : 2) == 0;
    threshold->set_metric(is_count ? ALLOCATION_COUNT : PEAK_LIVE_USABLE_BYTES);
    const int value = Below(5);
    const int sort = is_calm_ && Below(4) > 0 ? 2 : Below(4);
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
  // A calm case has few mistakes, so that its rules are judged.
  bool is_calm_ = false;
};

TEST(EvaluatePropertyTest, AgreesWithTheOracle) {
  EvaluationOptions options;
  std::map<int, int> seen;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    RandomCase random(seed);
    const std::vector<MemoryProfile> profiles = random.Profiles();
    const std::vector<ThresholdSource> sources = random.Sources();
    options.is_complete = seed % 2 == 0;
    const OracleVerdict expected =
        Oracle::Run(profiles, sources, options.is_complete);
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
  for (Decision decision : {ACCEPT, REJECT, BAD_CONFIGURATION, PRODUCER_FAILED,
                            INCONCLUSIVE, ENVIRONMENT_MISMATCH}) {
    EXPECT_GT(seen[decision], 10) << Decision_Name(decision);
  }
}

}  // namespace
}  // namespace footprint
