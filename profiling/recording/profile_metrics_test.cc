#include "footprint/profiling/recording/profile_metrics.h"

#include <cstdlib>

#include "footprint/profiling/recording/memory_phase.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

const Metric* Find(const Metrics& metrics, MetricKind kind) {
  for (const Metric& metric : metrics) {
    if (metric.kind() == kind) return &metric;
  }
  return nullptr;
}

TEST(ProfileMetricsTest, APeakOfOneThreadMayBeExact) {
  HeapPhaseBytes bytes;
  bytes.peak_live_net_bytes = 7;
  bytes.active_thread_count = 1;
  Metrics metrics;
  AddHeapMetrics(bytes, &metrics);
  ASSERT_NE(Find(metrics, PEAK_LIVE_USABLE_BYTES), nullptr);
  EXPECT_EQ(Find(metrics, PEAK_LIVE_USABLE_BYTES)->value(), 7);
  EXPECT_EQ(Find(metrics, PEAK_LIVE_USABLE_BYTES)->determinism(), EXACT);
}

TEST(ProfileMetricsTest, APeakOfSeveralThreadsIsBoundedAndTheirSumIsNot) {
  HeapPhaseBytes bytes;
  bytes.sum_thread_peak_net_bytes = 9;
  bytes.active_thread_count = 2;
  bytes.threads_may_overlap = true;
  Metrics metrics;
  AddHeapMetrics(bytes, &metrics);
  EXPECT_EQ(Find(metrics, PEAK_LIVE_USABLE_BYTES)->determinism(), BOUNDED);
  EXPECT_EQ(Find(metrics, SUM_THREAD_PEAK_USABLE_BYTES)->determinism(), EXACT);
  EXPECT_EQ(Find(metrics, SUM_THREAD_PEAK_USABLE_BYTES)->value(), 9);
}

TEST(ProfileMetricsTest, WhatTheKernelSaysIsStatistical) {
  Metrics metrics;
  AddProcessMetrics(&metrics);
  ASSERT_GT(metrics.size(), 0);
  for (const Metric& metric : metrics) {
    EXPECT_EQ(metric.determinism(), STATISTICAL);
  }
  EXPECT_GT(Find(metrics, PEAK_RESIDENT_BYTES)->value(), 0);
}

Phase MakePhase(const char* name, int64_t absolute_peak, int64_t peak,
                int64_t growth) {
  Phase phase;
  phase.set_name(name);
  phase.set_parent(-1);
  HeapPhaseBytes bytes;
  bytes.peak_live_absolute_bytes = absolute_peak;
  bytes.peak_live_net_bytes = peak;
  bytes.net_growth_bytes = growth;
  AddHeapMetrics(bytes, phase.mutable_metrics());
  return phase;
}

TEST(ProfileMetricsTest, ThePeakIsSharedAmongThosePhasesThatHoldIt) {
  BenchmarkMemory memory;
  *memory.add_phases() = MakePhase("startup", 10, 10, 5);
  *memory.add_phases() = MakePhase("read", 45, 40, 30);
  *memory.add_phases() = MakePhase("fit", 100, 65, 0);
  *memory.add_phases() = MakePhase("write", 60, 25, 0);
  AttributePeakToPhases(&memory);
  ASSERT_EQ(memory.peak_attribution_size(), 3);
  EXPECT_EQ(memory.peak_attribution(0).site(), "phase:fit");
  EXPECT_EQ(memory.peak_attribution(0).live_bytes(), 65);
  EXPECT_EQ(memory.peak_attribution(1).site(), "phase:read");
  EXPECT_EQ(memory.peak_attribution(1).live_bytes(), 30);
  EXPECT_EQ(memory.peak_attribution(2).site(), "phase:startup");
  EXPECT_EQ(memory.peak_attribution(2).live_bytes(), 5);
}

TEST(ProfileMetricsTest, RecordedPhasesKeepTheirPlaceInTheTree) {
  RecordMemoryPhases();
  {
    MemoryPhase outer("outer");
    MemoryPhase inner("inner");
  }
  Phases phases;
  phases.Add()->set_name("loop");
  AddRecordedPhases(/*parent=*/0, &phases);
  ASSERT_EQ(phases.size(), 3);
  EXPECT_EQ(phases[1].name(), "loop/outer");
  EXPECT_EQ(phases[1].parent(), 0);
  EXPECT_EQ(phases[2].name(), "loop/outer/inner");
  EXPECT_EQ(phases[2].parent(), 1);
}

}  // namespace
}  // namespace footprint
