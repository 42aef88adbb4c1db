#include "footprint/gates/trials/heap_evidence.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace footprint {
namespace {

MemoryProfile MakeProfile(int64_t heap_bytes, int64_t mapped_bytes) {
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

// Adds a rule that holds.
void Judge(MetricKind metric, int64_t measured, RuleKind rule,
           Verdict* verdict) {
  Judgement* const judgement = verdict->add_judgements();
  judgement->set_metric(metric);
  judgement->set_measured(measured);
  judgement->set_rule(rule);
  judgement->set_severity(BLOCK);
  judgement->set_decision(ACCEPT);
}

TEST(HeapEvidenceTest, SixteenMegabytesOrHalfMayBeLeftOut) {
  Verdict verdict;
  Judge(PEAK_MAPPED_BYTES, 2'000'000, MAXIMUM, &verdict);
  EXPECT_EQ(ComputeMostExplainedBytes(MemoryProfile(), Verdict()), 16'000'000);
  EXPECT_EQ(
      ComputeMostExplainedBytes(MakeProfile(1'000'000, 2'000'000), verdict),
      19'000'000);
  verdict.mutable_judgements(0)->set_measured(40'000'000);
  EXPECT_EQ(
      ComputeMostExplainedBytes(MakeProfile(60'000'000, 40'000'000), verdict),
      200'000'000);
}

// Untouched addresses are mapped too, and a minimum does not limit them.
TEST(HeapEvidenceTest, MappingsThatNobodyJudgesExplainNothing) {
  constexpr int64_t kTebibyte = int64_t{1} << 40;
  const MemoryProfile profile = MakeProfile(1'000'000, kTebibyte);
  Verdict verdict;
  EXPECT_EQ(ComputeMostExplainedBytes(profile, verdict), 17'000'000);
  Judge(PEAK_MAPPED_BYTES, kTebibyte, MINIMUM, &verdict);
  EXPECT_EQ(ComputeMostExplainedBytes(profile, verdict), 17'000'000);
}

// The judged figure may differ from the recorded one.
TEST(HeapEvidenceTest, AHeapExplainsNoMoreThanWhatIsJudged) {
  Verdict verdict;
  Judge(PEAK_LIVE_USABLE_BYTES, 3'000'000, MAXIMUM, &verdict);
  EXPECT_EQ(ComputeMostExplainedBytes(MakeProfile(90'000'000, 0), verdict),
            19'000'000);
}

TEST(HeapEvidenceTest, ForgedFiguresDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Verdict verdict;
  Judge(PEAK_MAPPED_BYTES, kMost, MAXIMUM, &verdict);
  EXPECT_GT(ComputeMostExplainedBytes(MakeProfile(kMost, kMost), verdict),
            kMost / 4);
  EXPECT_EQ(ComputeMostExplainedBytes(MakeProfile(-kMost, 0), Verdict()),
            16'000'000);
}

Verdict MakeVerdict(MetricKind metric, Severity severity, Decision decision,
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
  EXPECT_FALSE(
      IsHeapJudged(MakeVerdict(PEAK_RESIDENT_BYTES, BLOCK, ACCEPT, "")));
  EXPECT_TRUE(
      IsHeapJudged(MakeVerdict(PEAK_RESIDENT_BYTES, BLOCK, ACCEPT, "a")));
  EXPECT_TRUE(IsHeapJudged(MakeVerdict(kHeap, BLOCK, ACCEPT, "")));
  // A rule that rejects needs no more evidence, and a rule that does not block
  // decides nothing.
  EXPECT_FALSE(IsHeapJudged(MakeVerdict(kHeap, BLOCK, REJECT, "")));
  EXPECT_FALSE(IsHeapJudged(MakeVerdict(kHeap, AUDIT, ACCEPT, "")));
}

}  // namespace
}  // namespace footprint
