#include "footprint/gates/trials/heap_evidence.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace footprint {
namespace {

MemoryProfile ProfileOf(int64_t heap_bytes, int64_t mapped_bytes) {
  MemoryProfile profile;
  BenchmarkMemory* const benchmark = profile.add_benchmarks();
  Metric* metric = benchmark->add_metrics();
  metric->set_kind(PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
  metric->set_determinism(STATISTICAL);
  metric->set_value(heap_bytes);
  metric = benchmark->add_metrics();
  metric->set_kind(PEAK_MAPPED_BYTES);
  metric->set_determinism(STATISTICAL);
  metric->set_value(mapped_bytes);
  return profile;
}

TEST(HeapEvidenceTest, SixteenMegabytesOrHalfMayBeLeftOut) {
  EXPECT_EQ(ComputeMostExplainedBytes(MemoryProfile()), 16'000'000);
  EXPECT_EQ(ComputeMostExplainedBytes(ProfileOf(1'000'000, 2'000'000)),
            19'000'000);
  EXPECT_EQ(ComputeMostExplainedBytes(ProfileOf(60'000'000, 40'000'000)),
            200'000'000);
}

TEST(HeapEvidenceTest, ForgedFiguresDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_GT(ComputeMostExplainedBytes(ProfileOf(kMost, kMost)), kMost / 4);
  EXPECT_EQ(ComputeMostExplainedBytes(ProfileOf(-kMost, 0)), 16'000'000);
}

Verdict VerdictOf(MetricKind metric, Severity severity, Decision decision,
                  const char* phase) {
  Verdict verdict;
  Judgement* const judgement = verdict.add_judgements();
  judgement->set_metric(metric);
  judgement->set_severity(severity);
  judgement->set_decision(decision);
  judgement->set_phase(phase);
  return verdict;
}

TEST(HeapEvidenceTest, OnlyTheResidentPeakIsSeenFromOutside) {
  constexpr MetricKind kHeap = PEAK_LIVE_ABSOLUTE_USABLE_BYTES;
  EXPECT_FALSE(IsHeapJudged(Verdict()));
  EXPECT_FALSE(IsHeapJudged(VerdictOf(PEAK_RESIDENT_BYTES, BLOCK, ACCEPT, "")));
  EXPECT_TRUE(IsHeapJudged(VerdictOf(PEAK_RESIDENT_BYTES, BLOCK, ACCEPT, "a")));
  EXPECT_TRUE(IsHeapJudged(VerdictOf(kHeap, BLOCK, ACCEPT, "")));
  // A rule that has rejected needs no more evidence; others decide nothing.
  EXPECT_FALSE(IsHeapJudged(VerdictOf(kHeap, BLOCK, REJECT, "")));
  EXPECT_FALSE(IsHeapJudged(VerdictOf(kHeap, AUDIT, ACCEPT, "")));
}

}  // namespace
}  // namespace footprint
