// Tests what profile_merge.h promises, by example and against a naive oracle.

#include "footprint/profiling/schema/profile_merge.h"

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void AddMetric(MetricKind kind, Determinism determinism, int64_t value,
               google::protobuf::RepeatedPtrField<Metric>* metrics) {
  Metric* metric = metrics->Add();
  metric->set_kind(kind);
  metric->set_determinism(determinism);
  metric->set_value(value);
}

// Two threads, whose interleaving changes the peak but not the threads' sum.
MemoryMeasurement TwoThreads(int64_t peak_bytes, int64_t resident_bytes) {
  MemoryMeasurement process;
  process.profile.set_schema_version(1);
  process.profile.set_label("//a:b");
  process.profile.mutable_environment()->set_allocator("jemalloc 5.3.0");
  process.profile.mutable_environment()->set_page_size_bytes(4096);
  BenchmarkMemory* benchmark = process.profile.add_benchmarks();
  benchmark->set_name("BM_Train/threads:2");
  AddMetric(PEAK_LIVE_USABLE_BYTES, EXACT, peak_bytes,
            benchmark->mutable_metrics());
  AddMetric(SUM_THREAD_PEAK_USABLE_BYTES, EXACT, 9000,
            benchmark->mutable_metrics());
  AddMetric(PEAK_RESIDENT_BYTES, STATISTICAL, resident_bytes,
            benchmark->mutable_metrics());
  Phase* phase = benchmark->add_phases();
  phase->set_name("fit");
  phase->set_parent(-1);
  AddMetric(ALLOCATION_COUNT, EXACT, peak_bytes, phase->mutable_metrics());
  benchmark->add_peak_attribution()->set_site("phase:fit");
  SampledBenchmark* samples = process.samples.add_benchmarks();
  samples->set_name(benchmark->name());
  samples->add_metrics()->set_kind(ALLOCATOR_RESIDENT_BYTES);
  samples->mutable_metrics(0)->add_values(resident_bytes);
  process.samples.set_kernel("Linux 6.1");
  return process;
}

TEST(ProfileMergeTest, KeepsWhatProducersSay) {
  MemoryMeasurement process = TwoThreads(5000, 1);
  process.profile.add_remarks()->set_about("plan");
  const absl::StatusOr<MemoryMeasurement> merged =
      MergeProfiles({process, process, process});
  ASSERT_THAT(merged, IsOk());
  ASSERT_EQ(merged->profile.remarks_size(), 1);
  EXPECT_EQ(merged->profile.remarks(0).about(), "plan");
}

TEST(ProfileMergeTest, KeepsWhatRepeatsAndSamplesTheRest) {
  absl::StatusOr<MemoryMeasurement> merged = MergeProfiles(
      {TwoThreads(5000, 1), TwoThreads(7000, 2), TwoThreads(5000, 3)});
  ASSERT_THAT(merged, IsOk());
  EXPECT_EQ(merged->profile.label(), "//a:b");
  EXPECT_EQ(merged->profile.process_count(), 3);
  EXPECT_EQ(merged->profile.environment().page_size_bytes(), 4096);
  const BenchmarkMemory& benchmark = merged->profile.benchmarks(0);
  ASSERT_EQ(benchmark.metrics_size(), 1);
  EXPECT_EQ(benchmark.metrics(0).kind(), SUM_THREAD_PEAK_USABLE_BYTES);
  EXPECT_EQ(benchmark.metrics(0).determinism(), EXACT);
  EXPECT_EQ(benchmark.metrics(0).value(), 9000);
  EXPECT_THAT(benchmark.unrepeated(), ElementsAre(PEAK_LIVE_USABLE_BYTES));
  EXPECT_THAT(benchmark.phases(0).metrics(), IsEmpty());
  EXPECT_THAT(benchmark.phases(0).unrepeated(), ElementsAre(ALLOCATION_COUNT));
  EXPECT_THAT(benchmark.peak_attribution(), IsEmpty());

  const SampledBenchmark& samples = merged->samples.benchmarks(0);
  ASSERT_EQ(samples.metrics_size(), 4);
  EXPECT_EQ(merged->samples.kernel(), "Linux 6.1");
  EXPECT_THAT(samples.metrics(0).values(), ElementsAre(1, 2, 3));
  EXPECT_EQ(samples.metrics(1).kind(), PEAK_LIVE_USABLE_BYTES);
  EXPECT_THAT(samples.metrics(1).values(), ElementsAre(5000, 7000, 5000));
  EXPECT_EQ(samples.metrics(2).kind(), PEAK_RESIDENT_BYTES);
  EXPECT_THAT(samples.metrics(2).values(), ElementsAre(1, 2, 3));
  EXPECT_EQ(samples.metrics(3).phase(), "fit");
  EXPECT_THAT(samples.metrics(3).values(), ElementsAre(5000, 7000, 5000));
}

TEST(ProfileMergeTest, KeepsTheHighestOfWhatVariesWhereLimitsAreWanted) {
  std::vector<MemoryMeasurement> processes = {
      TwoThreads(5000, 1), TwoThreads(7000, 3), TwoThreads(5000, 2)};
  for (MemoryMeasurement& process : processes) {
    process.profile.mutable_benchmarks(0)->mutable_metrics(1)->set_determinism(
        BOUNDED);
  }
  absl::StatusOr<MemoryMeasurement> merged =
      MergeProfiles(processes, Unrepeated::kKeepHighest);
  ASSERT_THAT(merged, IsOk());
  const BenchmarkMemory& benchmark = merged->profile.benchmarks(0);
  ASSERT_EQ(benchmark.metrics_size(), 3);
  EXPECT_EQ(benchmark.metrics(0).value(), 7000);
  EXPECT_EQ(benchmark.metrics(0).determinism(), STATISTICAL);
  EXPECT_EQ(benchmark.metrics(1).value(), 9000);
  EXPECT_EQ(benchmark.metrics(1).determinism(), BOUNDED);
  EXPECT_EQ(benchmark.metrics(2).kind(), PEAK_RESIDENT_BYTES);
  EXPECT_EQ(benchmark.metrics(2).value(), 3);
  EXPECT_EQ(benchmark.phases(0).metrics(0).determinism(), STATISTICAL);
  EXPECT_THAT(benchmark.unrepeated(), IsEmpty());
  EXPECT_THAT(benchmark.order_dependent(), IsEmpty());
  EXPECT_THAT(benchmark.peak_attribution(), IsEmpty());
  EXPECT_THAT(merged->samples.benchmarks(0).metrics(1).values(),
              ElementsAre(5000, 7000, 5000));
}

// A value with an error of its own is not exact even if it repeats.
TEST(ProfileMergeTest, BoundedValuesAreNotExactEvenIfEqual) {
  MemoryMeasurement process = TwoThreads(5000, 1);
  process.profile.mutable_benchmarks(0)->mutable_metrics(0)->set_determinism(
      BOUNDED);
  absl::StatusOr<MemoryMeasurement> merged =
      MergeProfiles({process, process, process});
  ASSERT_THAT(merged, IsOk());
  EXPECT_THAT(merged->profile.benchmarks(0).unrepeated(),
              ElementsAre(PEAK_LIVE_USABLE_BYTES));
  EXPECT_THAT(merged->profile.benchmarks(0).order_dependent(),
              ElementsAre(PEAK_LIVE_USABLE_BYTES));
}

TEST(ProfileMergeTest, ValuesThatDifferNeedNotDependOnOrder) {
  absl::StatusOr<MemoryMeasurement> merged = MergeProfiles(
      {TwoThreads(5000, 1), TwoThreads(5001, 1), TwoThreads(5000, 1)});
  ASSERT_THAT(merged, IsOk());
  EXPECT_THAT(merged->profile.benchmarks(0).unrepeated(),
              ElementsAre(PEAK_LIVE_USABLE_BYTES));
  EXPECT_THAT(merged->profile.benchmarks(0).order_dependent(), IsEmpty());
}

TEST(ProfileMergeTest, KeepsAnAttributionOnlyIfItRepeats) {
  MemoryMeasurement other = TwoThreads(5000, 1);
  EXPECT_EQ(MergeProfiles({other, other, other})
                ->profile.benchmarks(0)
                .peak_attribution_size(),
            1);
  other.profile.mutable_benchmarks(0)
      ->mutable_peak_attribution(0)
      ->set_live_bytes(7);
  absl::StatusOr<MemoryMeasurement> merged =
      MergeProfiles({TwoThreads(5000, 1), TwoThreads(5000, 1), other});
  ASSERT_THAT(merged, IsOk());
  EXPECT_THAT(merged->profile.benchmarks(0).peak_attribution(), IsEmpty());
}

TEST(ProfileMergeTest, KeepsAnAttributionOfMappingsWithTheirPeak) {
  MemoryMeasurement process = TwoThreads(5000, 1);
  BenchmarkMemory* const benchmark = process.profile.mutable_benchmarks(0);
  AddMetric(PEAK_MAPPED_BYTES, EXACT, 8192, benchmark->mutable_metrics());
  benchmark->add_mapped_attribution()->set_site("site:Map");
  MemoryMeasurement other = process;
  const auto mapped_count = [](const std::vector<MemoryMeasurement>& all) {
    return MergeProfiles(all)->profile.benchmarks(0).mapped_attribution_size();
  };
  EXPECT_EQ(mapped_count({process, process, process}), 1);
  other.profile.mutable_benchmarks(0)->mutable_mapped_attribution(0)->set_site(
      "site:Read");
  EXPECT_EQ(mapped_count({process, process, other}), 0);
  other = process;
  other.profile.mutable_benchmarks(0)->mutable_metrics()->rbegin()->set_value(
      4096);
  EXPECT_EQ(mapped_count({process, process, other}), 0);
}

TEST(ProfileMergeTest, NeedsThreeMeasurements) {
  const MemoryMeasurement process = TwoThreads(5000, 1);
  EXPECT_THAT(MergeProfiles({}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MergeProfiles({process, process}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  MemoryMeasurement failed;
  failed.profile.mutable_failure()->set_kind(ProducerFailure::EXITED);
  EXPECT_THAT(MergeProfiles({process, failed, process}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ProfileMergeTest, NamesTheProcessAndWhatDiffers) {
  MemoryMeasurement other = TwoThreads(5000, 1);
  other.profile.mutable_environment()->set_allocator("jemalloc 5.4.0");
  const absl::Status status =
      MergeProfiles({TwoThreads(5000, 1), TwoThreads(5000, 1), other}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(
      std::string(status.message()),
      "process 3 has the environment's allocator \"jemalloc 5.4.0\" where "
      "process 1 has \"jemalloc 5.3.0\"");
}

TEST(ProfileMergeTest, RefusesProcessesThatDidNotDoTheSame) {
  using Fault = void (*)(MemoryMeasurement*);
  const std::pair<const char*, Fault> faults[] = {
      {"label", [](auto* m) { m->profile.set_label("//a:c"); }},
      {"benchmarks", [](auto* m) { m->profile.clear_benchmarks(); }},
      {"benchmarks",
       [](auto* m) { m->profile.add_benchmarks()->set_name("BM_More"); }},
      {"benchmarks",
       [](auto* m) { m->profile.mutable_benchmarks(0)->set_name("BM_Other"); }},
      {"arguments",
       [](auto* m) {
         m->profile.mutable_benchmarks(0)->add_arguments()->set_value("2");
       }},
      {"phases",
       [](auto* m) { m->profile.mutable_benchmarks(0)->clear_phases(); }},
      {"phases",
       [](auto* m) {
         m->profile.mutable_benchmarks(0)->mutable_phases(0)->set_name("load");
       }},
      {"metrics",
       [](auto* m) {
         m->profile.mutable_benchmarks(0)->mutable_metrics()->RemoveLast();
       }},
      {"metrics of phase",
       [](auto* m) {
         m->profile.mutable_benchmarks(0)
             ->mutable_phases(0)
             ->mutable_metrics(0)
             ->set_kind(IMAGE_BYTES);
       }},
      {"child processes",
       [](auto* m) {
         m->profile.mutable_benchmarks(0)->set_forked_process_count(1);
       }},
      {"remarks", [](auto* m) { m->profile.add_remarks()->set_about("plan"); }},
      {"samples", [](auto* m) { m->samples.clear_benchmarks(); }},
  };
  for (const auto& [what, fault] : faults) {
    for (size_t at = 0; at < 3; ++at) {
      std::vector<MemoryMeasurement> processes(3, TwoThreads(5000, 1));
      fault(&processes[at]);
      const absl::Status status = MergeProfiles(processes).status();
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition))
          << what;
      EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    }
  }
}

// Names that differ only in where one ends and the next begins are told apart.
TEST(ProfileMergeTest, TellsOneNameFromTwo) {
  MemoryMeasurement one = TwoThreads(5000, 1);
  one.profile.mutable_benchmarks(0)->set_name("a' 'b");
  MemoryMeasurement two = TwoThreads(5000, 1);
  two.profile.mutable_benchmarks(0)->set_name("a");
  two.profile.add_benchmarks()->set_name("b");
  EXPECT_THAT(MergeProfiles({one, one, two}), Not(IsOk()));
  EXPECT_THAT(MergeProfiles({two, one, one}), Not(IsOk()));
}

// Benchmark, phase and kind.
using Key = std::tuple<std::string, std::string, int>;

struct Outcome {
  std::map<Key, int64_t> exact;
  std::set<Key> unrepeated;
  std::map<Key, std::vector<int64_t>> sampled;

  bool operator==(const Outcome& other) const {
    return exact == other.exact && unrepeated == other.unrepeated &&
           sampled == other.sampled;
  }
};

// Classifies each metric by itself, from flat lists.
class Oracle {
 public:
  void Add(const Key& key, Determinism determinism, int64_t value) {
    values_[key].emplace_back(determinism, value);
  }

  Outcome Judge() const {
    Outcome outcome;
    for (const auto& [key, observed] : values_) {
      std::set<Determinism> classes;
      std::set<int64_t> distinct;
      std::vector<int64_t> all;
      for (const auto& [determinism, value] : observed) {
        classes.insert(determinism);
        distinct.insert(value);
        all.push_back(value);
      }
      if (classes == std::set<Determinism>{EXACT} && distinct.size() == 1) {
        outcome.exact[key] = all[0];
        continue;
      }
      outcome.sampled[key] = all;
      if (classes.count(STATISTICAL) == 0) outcome.unrepeated.insert(key);
    }
    return outcome;
  }

 private:
  std::map<Key, std::vector<std::pair<Determinism, int64_t>>> values_;
};

void Flatten(const std::string& benchmark, const std::string& phase,
             const google::protobuf::RepeatedPtrField<Metric>& metrics,
             const google::protobuf::RepeatedField<int>& unrepeated,
             Outcome* outcome) {
  for (const Metric& metric : metrics) {
    EXPECT_EQ(metric.determinism(), EXACT);
    outcome->exact[{benchmark, phase, metric.kind()}] = metric.value();
  }
  for (int kind : unrepeated) {
    EXPECT_TRUE(outcome->unrepeated.insert({benchmark, phase, kind}).second);
  }
}

Outcome Flatten(const MemoryMeasurement& merged) {
  Outcome outcome;
  for (const BenchmarkMemory& benchmark : merged.profile.benchmarks()) {
    Flatten(benchmark.name(), "", benchmark.metrics(), benchmark.unrepeated(),
            &outcome);
    for (const Phase& phase : benchmark.phases()) {
      Flatten(benchmark.name(), phase.name(), phase.metrics(),
              phase.unrepeated(), &outcome);
    }
  }
  for (const SampledBenchmark& benchmark : merged.samples.benchmarks()) {
    for (const SampledMetric& metric : benchmark.metrics()) {
      const auto& values = metric.values();
      outcome.sampled[{benchmark.name(), metric.phase(), metric.kind()}] = {
          values.begin(), values.end()};
    }
  }
  return outcome;
}

// Adds the same kinds in every process, in any order, with values that often
// repeat.
void AddRandomMetrics(const std::string& benchmark, const std::string& phase,
                      uint32_t kinds_seed, std::mt19937* random,
                      google::protobuf::RepeatedPtrField<Metric>* metrics,
                      Oracle* oracle) {
  std::mt19937 kinds_random(kinds_seed);
  for (int kind = MetricKind_MIN + 1; kind <= MetricKind_MAX; ++kind) {
    if (kinds_random() % 2 == 0) continue;
    const int64_t varying = (*random)() % 4 == 0 ? (*random)() % 3 : 0;
    const Determinism determinism =
        (*random)() % 8 == 0 ? static_cast<Determinism>(1 + (*random)() % 3)
                             : EXACT;
    AddMetric(static_cast<MetricKind>(kind), determinism, 1000 + varying,
              metrics);
    oracle->Add({benchmark, phase, kind}, determinism, 1000 + varying);
  }
}

TEST(ProfileMergeTest, AgreesWithTheNaiveOracle) {
  std::mt19937 random(42);
  for (int round = 0; round < 500; ++round) {
    Oracle oracle;
    const uint32_t shape = random();
    std::vector<MemoryMeasurement> processes(3 + random() % 4);
    for (MemoryMeasurement& process : processes) {
      for (uint32_t b = 0; b < 1 + shape % 4; ++b) {
        BenchmarkMemory* benchmark = process.profile.add_benchmarks();
        benchmark->set_name(absl::StrCat("BM_", b));
        AddRandomMetrics(benchmark->name(), "", shape + b, &random,
                         benchmark->mutable_metrics(), &oracle);
        for (uint32_t p = 0; p < (shape >> 8) % 3; ++p) {
          Phase* phase = benchmark->add_phases();
          phase->set_name(absl::StrCat("phase", p));
          phase->set_parent(static_cast<int>(p) - 1);
          AddRandomMetrics(benchmark->name(), phase->name(), shape ^ p, &random,
                           phase->mutable_metrics(), &oracle);
        }
      }
    }
    absl::StatusOr<MemoryMeasurement> merged = MergeProfiles(processes);
    ASSERT_THAT(merged, IsOk());
    EXPECT_TRUE(Flatten(*merged) == oracle.Judge()) << "round " << round;
  }
}

}  // namespace
}  // namespace footprint
