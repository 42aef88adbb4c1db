#include "footprint/lowmem/programs/run_memory.h"

#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

RunMemory Group(int64_t bytes) {
  return RunMemory(AvailableMemory{bytes, "the control group /a"});
}

TEST(RunMemoryTest, WhereTheKernelTellsNothingNothingIsLimited) {
  const RunMemory memory{absl::nullopt};
  EXPECT_EQ(memory.ChooseBackend(int64_t{1} << 50), WeightBackend::kPread);
  EXPECT_EQ(*memory.LimitBudget(int64_t{1} << 50, 1, true), int64_t{1} << 50);
  EXPECT_THAT(memory.CheckRoom("x", int64_t{1} << 50), IsOk());
}

TEST(RunMemoryTest, AFileWithoutRoomInTheCacheIsReadPastIt) {
  EXPECT_EQ(Group(200 * kMiB).ChooseBackend(100 * kMiB), WeightBackend::kPread);
  EXPECT_EQ(Group(150 * kMiB).ChooseBackend(100 * kMiB),
            WeightBackend::kDirect);
  EXPECT_EQ(Group(16 * kMiB).ChooseBackend(100 * kMiB), WeightBackend::kDirect);
}

TEST(RunMemoryTest, ReadingThroughACacheTooSmallThrashes) {
  const RunMemory memory = Group(101 * kMiB);
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kMmap}) {
    EXPECT_FALSE(memory.Thrashes(backend, 90 * kMiB, 10 * kMiB));
    EXPECT_TRUE(memory.Thrashes(backend, 91 * kMiB, 10 * kMiB));
  }
  EXPECT_FALSE(memory.Thrashes(WeightBackend::kDirect, 91 * kMiB, 10 * kMiB));
  EXPECT_FALSE(memory.Thrashes(WeightBackend::kResident, 91 * kMiB, 10 * kMiB));
}

TEST(RunMemoryTest, AChosenBudgetIsLoweredToWhatIsFree) {
  const RunMemory memory = Group(16 * kMiB);
  EXPECT_EQ(*memory.LimitBudget(39 * kMiB, 5 * kMiB, /*is_chosen=*/true),
            15 * kMiB);
  EXPECT_EQ(*memory.LimitBudget(9 * kMiB, 5 * kMiB, /*is_chosen=*/true),
            9 * kMiB);
  EXPECT_EQ(*Group(16 * kMiB + 4095)
                 .LimitBudget(39 * kMiB, 5 * kMiB, /*is_chosen=*/true),
            15 * kMiB);
}

TEST(RunMemoryTest, ABudgetThatWasAskedForAndDoesNotFitIsRefused) {
  const absl::Status status = Group(16 * kMiB)
                                  .LimitBudget(39 * kMiB, 5 * kMiB,
                                               /*is_chosen=*/false)
                                  .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("39.0 MiB does not fit: 16.0 MiB are free in the control "
                      "group /a"),
            HasSubstr("--budget=15204352 or less, at least 5242880")));
}

TEST(RunMemoryTest, TheLeastThatWouldDoIsNamed) {
  for (const bool is_chosen : {false, true}) {
    const absl::Status status =
        Group(4 * kMiB).LimitBudget(39 * kMiB, 5 * kMiB, is_chosen).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr("the least budget of this run is 5242880 bytes, and "
                        "only 4.00 MiB are free in the control group /a"),
              HasSubstr("make 6.00 MiB free")));
  }
}

// The ids of many sequences, for example.
TEST(RunMemoryTest, MemoryBesideThePlanIsNoPartOfABudget) {
  const RunMemory memory = Group(16 * kMiB);
  constexpr int64_t kBesideBytes = 4 * kMiB - 100;
  EXPECT_EQ(*memory.LimitBudget(39 * kMiB, 5 * kMiB, /*is_chosen=*/true,
                                kBesideBytes),
            11 * kMiB);
  EXPECT_EQ(*memory.LimitBudget(11 * kMiB, 5 * kMiB, /*is_chosen=*/false,
                                kBesideBytes),
            11 * kMiB);
  const std::string message(
      memory.LimitBudget(12 * kMiB, 5 * kMiB, /*is_chosen=*/false, kBesideBytes)
          .status()
          .message());
  // The advised budget fits, with what lies beside it.
  EXPECT_THAT(message,
              AllOf(HasSubstr("a budget of 12.0 MiB does not fit"),
                    HasSubstr("of which a run needs 5.00 MiB beside its plan"),
                    HasSubstr("--budget=11010048 or less, at least 5242880")));
  EXPECT_THAT(
      memory.LimitBudget(11010048, 5 * kMiB, /*is_chosen=*/false, kBesideBytes),
      IsOkAndHolds(11010048));
  EXPECT_THAT(std::string(memory
                              .LimitBudget(39 * kMiB, 12 * kMiB,
                                           /*is_chosen=*/true, kBesideBytes)
                              .status()
                              .message()),
              AllOf(HasSubstr("the least budget of this run is 12582912 bytes"),
                    HasSubstr("make 17.0 MiB free")));
  EXPECT_THAT(
      Group(2 * kMiB).LimitBudget(kMiB, kMiB, /*is_chosen=*/true, kBesideBytes),
      StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(RunMemoryTest, WhatHasNoRoomIsSaid) {
  const RunMemory memory = Group(16 * kMiB);
  EXPECT_THAT(memory.CheckRoom("3 sequences", 15 * kMiB), IsOk());
  EXPECT_THAT(
      std::string(memory.CheckRoom("3 sequences", 16 * kMiB).message()),
      HasSubstr("3 sequences take 16.0 MiB, and 16.0 MiB are free in the "
                "control group /a"));
}

}  // namespace
}  // namespace footprint::lowmem_internal
