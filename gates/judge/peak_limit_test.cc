#include "footprint/gates/judge/peak_limit.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

Threshold Rule(const std::string& fields) {
  Threshold threshold;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(fields, &threshold))
      << fields;
  return threshold;
}

BenchmarkMemory Benchmark(const std::string& name, MetricKind metric) {
  BenchmarkMemory benchmark;
  benchmark.set_name(name);
  benchmark.add_metrics()->set_kind(metric);
  return benchmark;
}

TEST(PeakLimitTest, OfAHeapAreItsMaximumExactValueAndRatio) {
  const BenchmarkMemory benchmark =
      Benchmark("BM_Load", PEAK_LIVE_USABLE_BYTES);
  for (const char* rule :
       {"max_bytes: 1", "exact_bytes: 1", "max_bytes: 2 min_bytes: 1",
        "max_ratio { ratio: 1 }", "max_bytes: 1 budget { share: 0.9 }",
        "scaling { at { max_bytes: 1 } }",
        "scaling { max_bytes_per_unit: 1 max_intercept: 1 }"}) {
    EXPECT_TRUE(LimitsPeak(
        Rule(absl::StrCat("metric: PEAK_LIVE_USABLE_BYTES ", rule)), benchmark))
        << rule;
  }
  for (const char* rule :
       {"min_bytes: 1", "regression { tolerance: 0.1 }",
        "scaling { max_exponent: 1 }", "scaling { max_bytes_per_unit: 1 }",
        "max_bytes: 1 severity: AUDIT", "max_bytes: 1 severity: WARN",
        "max_bytes: 1 selector { phase: 'fit' }"}) {
    EXPECT_FALSE(LimitsPeak(
        Rule(absl::StrCat("metric: PEAK_LIVE_USABLE_BYTES ", rule)), benchmark))
        << rule;
  }
}

TEST(PeakLimitTest, MustBeOfTheWholePeak) {
  const BenchmarkMemory heap = Benchmark("BM_Load", PEAK_LIVE_USABLE_BYTES);
  const BenchmarkMemory whole =
      Benchmark("whole_process/load", PEAK_RESIDENT_BYTES);
  const BenchmarkMemory mapped = Benchmark("serve", PEAK_MAPPED_BYTES);
  const auto limits = [](const char* metric, const BenchmarkMemory& benchmark) {
    return LimitsPeak(Rule(absl::StrCat("max_bytes: 1 metric: ", metric)),
                      benchmark);
  };
  EXPECT_TRUE(limits("SUM_THREAD_PEAK_USABLE_BYTES", heap));
  EXPECT_TRUE(limits("ALLOCATED_USABLE_BYTES", heap));
  EXPECT_FALSE(limits("PEAK_MAPPED_BYTES", heap));
  EXPECT_FALSE(limits("NET_GROWTH_USABLE_BYTES", heap));
  EXPECT_FALSE(limits("RESIDENT_FILE_BYTES", whole));
  EXPECT_FALSE(limits("RESIDENT_ANONYMOUS_BYTES", whole));
  EXPECT_FALSE(limits("PEAK_LIVE_USABLE_BYTES", whole));
  EXPECT_TRUE(limits("PEAK_RESIDENT_BYTES", whole));
  // A tool that counts pages only, such as massif --pages-as-heap, gives such a
  // profile.
  EXPECT_TRUE(limits("PEAK_MAPPED_BYTES", mapped));
  BenchmarkMemory unrepeated = mapped;
  unrepeated.add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  EXPECT_FALSE(limits("PEAK_MAPPED_BYTES", unrepeated));
}

TEST(PeakLimitTest, OnlyARuleAsStrongStandsInForAnother) {
  const Threshold exact = Rule("exact_bytes: 1");
  const Threshold minimum = Rule("min_bytes: 1");
  const Threshold audit = Rule("max_bytes: 1 severity: AUDIT");
  const Threshold maximum = Rule("max_bytes: 1");
  EXPECT_TRUE(StandsInFor(maximum, exact));
  EXPECT_TRUE(StandsInFor(exact, audit));
  EXPECT_TRUE(StandsInFor(audit, audit));
  EXPECT_TRUE(StandsInFor(exact, minimum));
  EXPECT_FALSE(StandsInFor(minimum, exact));
  EXPECT_FALSE(StandsInFor(audit, exact));
  EXPECT_FALSE(StandsInFor(audit, minimum));
}

}  // namespace
}  // namespace footprint
