#include "footprint/profiling/recording/memory_phase.h"

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "footprint/profiling/heap/opaque_block.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

void AllocateAndFree(size_t size) { std::free(Opaque(std::malloc(size))); }

TEST(MemoryPhaseTest, RecordsNestedPhasesInOrder) {
  RecordMemoryPhases();
  {
    MemoryPhase load("load");
    AllocateAndFree(1 << 20);
    {
      MemoryPhase parse("parse");
      AllocateAndFree(1 << 16);
    }
  }
  {
    MemoryPhase fit("fit");
    AllocateAndFree(1 << 21);
  }
  const std::vector<RecordedMemoryPhase> phases = RecordedMemoryPhases();
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_STREQ(phases[0].name, "load");
  EXPECT_EQ(phases[0].parent, -1);
  EXPECT_EQ(phases[0].bytes.peak_live_net_bytes, 1 << 20);
  EXPECT_EQ(phases[0].bytes.allocated_bytes, (1 << 20) + (1 << 16));
  EXPECT_STREQ(phases[1].name, "parse");
  EXPECT_EQ(phases[1].parent, 0);
  EXPECT_EQ(phases[1].bytes.peak_live_net_bytes, 1 << 16);
  EXPECT_STREQ(phases[2].name, "fit");
  EXPECT_EQ(phases[2].parent, -1);
  EXPECT_EQ(phases[2].bytes.peak_live_net_bytes, 1 << 21);
}

TEST(MemoryPhaseTest, APhaseThatIsEnteredAgainIsTheSame) {
  RecordMemoryPhases();
  for (size_t size : {1 << 16, 1 << 18, 1 << 14}) {
    MemoryPhase batch("batch");
    AllocateAndFree(size);
  }
  const std::vector<RecordedMemoryPhase> phases = RecordedMemoryPhases();
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].bytes.peak_live_net_bytes, 1 << 18);
  EXPECT_EQ(phases[0].bytes.allocated_bytes, (1 << 16) + (1 << 18) + (1 << 14));
  EXPECT_EQ(phases[0].bytes.allocation_count, 3);
}

TEST(MemoryPhaseTest, EndsWhenTold) {
  RecordMemoryPhases();
  MemoryPhase early("early");
  early.End();
  AllocateAndFree(1 << 20);
  EXPECT_EQ(RecordedMemoryPhases()[0].bytes.peak_live_net_bytes, 0);
}

TEST(MemoryPhaseTest, MeasuresNothingOfItself) {
  RecordMemoryPhases();
  {
    MemoryPhase outer("outer");
    MemoryPhase inner("inner");
  }
  EXPECT_EQ(RecordedMemoryPhases()[0].bytes.allocation_count, 0);
}

TEST(MemoryPhaseTest, AThreadHasItsOwnNesting) {
  RecordMemoryPhases();
  {
    MemoryPhase outer("outer");
    std::thread([] { MemoryPhase other("other"); }).join();
  }
  const std::vector<RecordedMemoryPhase> phases = RecordedMemoryPhases();
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[1].parent, -1);
}

TEST(MemoryPhaseTest, APhaseAroundEveryThreadHoldsThoseOfOtherThreads) {
  RecordMemoryPhases();
  {
    MemoryPhase loop("loop", MemoryPhase::Around::kEveryThread);
    std::thread([] { MemoryPhase other("other"); }).join();
  }
  MemoryPhase after("after");
  const std::vector<RecordedMemoryPhase> phases = RecordedMemoryPhases();
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[1].parent, 0);
  EXPECT_EQ(phases[2].parent, -1);
}

TEST(MemoryPhaseTest, APhaseAroundEveryThreadIsNotInsideOneOfThisThread) {
  RecordMemoryPhases();
  MemoryPhase own("own");
  MemoryPhase loop("loop", MemoryPhase::Around::kEveryThread);
  MemoryPhase inner("inner", MemoryPhase::Around::kEveryThread);
  const std::vector<RecordedMemoryPhase> phases = RecordedMemoryPhases();
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[1].parent, -1);
  EXPECT_EQ(phases[2].parent, 1);
}

TEST(MemoryPhaseTest, TheOuterPhaseAroundEveryThreadGoesOnAfterTheInner) {
  RecordMemoryPhases();
  MemoryPhase loop("loop", MemoryPhase::Around::kEveryThread);
  { MemoryPhase inner("inner", MemoryPhase::Around::kEveryThread); }
  std::thread([] { MemoryPhase other("other"); }).join();
  const std::vector<RecordedMemoryPhase> phases = RecordedMemoryPhases();
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[2].parent, 0);
}

TEST(MemoryPhaseTest, WhatBeginsAfterTheStopIsNotRecorded) {
  RecordMemoryPhases();
  { MemoryPhase before("before"); }
  StopRecordingMemoryPhases();
  { MemoryPhase after("after"); }
  ASSERT_EQ(RecordedMemoryPhases().size(), 1u);
  EXPECT_STREQ(RecordedMemoryPhases()[0].name, "before");
}

TEST(MemoryPhaseTest, NamesAPhaseThatIsStillOpen) {
  RecordMemoryPhases();
  MemoryPhase fit("fit");
  EXPECT_NE(MemoryPhasesFault().find("\"fit\" is still open"),
            std::string::npos);
  fit.End();
  EXPECT_EQ(MemoryPhasesFault(), "");
}

TEST(MemoryPhaseTest, SaysHowManyFoundNoRoom) {
  RecordMemoryPhases();
  std::vector<std::string> names;
  for (int i = 0; i < 260; ++i) names.push_back("phase " + std::to_string(i));
  for (const std::string& name : names) MemoryPhase phase(name.c_str());
  EXPECT_EQ(RecordedMemoryPhases().size(), 256u);
  EXPECT_EQ(UnrecordedPhaseCount(), 4);
  EXPECT_EQ(MemoryPhasesFault().rfind("4 beginnings", 0), 0u);
}

}  // namespace
}  // namespace footprint
