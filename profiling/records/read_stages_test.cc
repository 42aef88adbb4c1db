#include "footprint/profiling/records/read_stages.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/stage_record.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::kMaxStages;
using profiling_internal::kStageMagic;
using profiling_internal::StageFile;
using profiling_internal::StageKind;
using profiling_internal::StageRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Tests a sparse file with the stages "load", and "fit" inside it.
class ReadStagesTest : public testing::Test {
 protected:
  ReadStagesTest()
      : path_(testing::TempDir() + "/x.stages"),
        file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {
    EXPECT_EQ(ftruncate(file_, sizeof(StageFile)), 0);
    Set(offsetof(StageFile, magic), kStageMagic);
    Set(offsetof(StageFile, stage_count), uint32_t{3});
    SetName(1, "load");
    SetName(2, "fit");
    SetField(1, offsetof(StageRecord, kind), StageKind::kFile);
    SetField(2, offsetof(StageRecord, kind), StageKind::kNamed);
    SetField(2, offsetof(StageRecord, parent), uint32_t{1});
  }
  ~ReadStagesTest() override { close(file_); }

  template <typename T>
  void Set(size_t offset, const T& value) {
    ASSERT_EQ(pwrite(file_, &value, sizeof(value), static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof(value)));
  }
  template <typename T>
  void SetField(size_t stage, size_t offset, const T& value) {
    Set(offsetof(StageFile, stages) + stage * sizeof(StageRecord) + offset,
        value);
  }
  void SetName(size_t stage, const char* name) {
    char text[sizeof(StageRecord::name)] = {};
    std::strcpy(text, name);
    SetField(stage, offsetof(StageRecord, name), text);
  }

  absl::Status Read(uint32_t peak_stage = 2) {
    image_.Clear();
    return ReadStages(path_, {/*live_bytes=*/900, peak_stage}, &image_);
  }
  void ExpectDamaged(absl::string_view what) {
    EXPECT_THAT(Read(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what)));
  }

  const std::string path_;
  const int file_;
  MeasuredImage image_;
};

TEST_F(ReadStagesTest, IsWhatTheFileHolds) {
  SetField(2, offsetof(StageRecord, visit_count), int64_t{4});
  SetField(2, offsetof(StageRecord, begin_time_ns), int64_t{5});
  SetField(2, offsetof(StageRecord, wall_time_ns), int64_t{6});
  SetField(2, offsetof(StageRecord, peak_live_bytes), int64_t{7});
  SetField(2, offsetof(StageRecord, peak_live_absolute_bytes), int64_t{8});
  SetField(2, offsetof(StageRecord, allocated_bytes), int64_t{9});
  SetField(2, offsetof(StageRecord, allocation_count), int64_t{10});
  SetField(2, offsetof(StageRecord, net_growth_bytes), int64_t{-11});
  ASSERT_THAT(Read(), IsOk());
  ASSERT_EQ(image_.stages_size(), 3);
  EXPECT_EQ(image_.stages(0).kind(), StageFigures::NONE);
  EXPECT_EQ(image_.stages(1).kind(), StageFigures::FILE);
  const StageFigures& fit = image_.stages(2);
  EXPECT_EQ(fit.name(), "fit");
  EXPECT_EQ(fit.kind(), StageFigures::NAMED);
  EXPECT_EQ(fit.parent(), 1u);
  EXPECT_EQ(fit.visit_count(), 4);
  EXPECT_EQ(fit.begin_time_ns(), 5);
  EXPECT_EQ(fit.wall_time_ns(), 6);
  EXPECT_EQ(fit.peak_live_bytes(), 7);
  EXPECT_EQ(fit.peak_live_absolute_bytes(), 8);
  EXPECT_EQ(fit.allocated_bytes(), 9);
  EXPECT_EQ(fit.allocation_count(), 10);
  EXPECT_EQ(fit.net_growth_bytes(), -11);
  EXPECT_FALSE(fit.was_left_open());
  EXPECT_THAT(image_.notes(), IsEmpty());
}

TEST_F(ReadStagesTest, ANameNeedNotBeUtf8) {
  SetName(2, "f\xff");
  ASSERT_THAT(Read(), IsOk());
  EXPECT_EQ(image_.stages(2).name(), "f\\xff");
}

TEST_F(ReadStagesTest, UnmeasuredVisitsAreCounted) {
  SetField(2, offsetof(StageRecord, unmeasured_visit_count), int64_t{9});
  ASSERT_THAT(Read(), IsOk());
  EXPECT_EQ(image_.stages(2).unmeasured_visit_count(), 9);
}

TEST_F(ReadStagesTest, AVisitThatWasOpenHasTheProcessesPeakAndThoseAroundIt) {
  for (size_t stage : {1, 2}) {
    SetField(stage, offsetof(StageRecord, open_visit_count), int64_t{1});
    SetField(stage, offsetof(StageRecord, peak_live_bytes), int64_t{70});
    SetField(stage, offsetof(StageRecord, last_begin_live_bytes), int64_t{200});
  }
  ASSERT_THAT(Read(), IsOk());
  for (int stage : {1, 2}) {
    EXPECT_TRUE(image_.stages(stage).was_left_open());
    EXPECT_TRUE(image_.stages(stage).lacks_last_visit());
    EXPECT_EQ(image_.stages(stage).peak_live_absolute_bytes(), 900);
    EXPECT_EQ(image_.stages(stage).peak_live_bytes(), 700);
  }
  EXPECT_THAT(image_.notes(), ElementsAre(HasSubstr("\"fit\" was still open")));
}

TEST_F(ReadStagesTest, AnEarlierVisitMayHaveHadThePeak) {
  SetField(2, offsetof(StageRecord, open_visit_count), int64_t{1});
  SetField(2, offsetof(StageRecord, peak_live_bytes), int64_t{70});
  SetField(2, offsetof(StageRecord, peak_live_absolute_bytes), int64_t{900});
  ASSERT_THAT(Read(), IsOk());
  EXPECT_EQ(image_.stages(2).peak_live_bytes(), 70);
}

TEST_F(ReadStagesTest, AnotherStagesPeakIsNotGiven) {
  SetField(2, offsetof(StageRecord, open_visit_count), int64_t{1});
  ASSERT_THAT(Read(/*peak_stage=*/1), IsOk());
  EXPECT_EQ(image_.stages(2).peak_live_absolute_bytes(), 0);
}

TEST_F(ReadStagesTest, WhatAForksParentEndsIsNotLeftOpen) {
  SetField(2, offsetof(StageRecord, open_visit_count), int64_t{1});
  SetField(2, offsetof(StageRecord, is_inherited), uint32_t{1});
  ASSERT_THAT(Read(), IsOk());
  EXPECT_FALSE(image_.stages(2).was_left_open());
  EXPECT_THAT(image_.notes(), IsEmpty());
}

TEST_F(ReadStagesTest, NotesSayWhatDidNotMatch) {
  Set(offsetof(StageFile, crossed_end_count), int64_t{2});
  Set(offsetof(StageFile, first_crossed_stage), uint32_t{1});
  Set(offsetof(StageFile, first_stage_inside), uint32_t{99});
  Set(offsetof(StageFile, needless_end_count), int64_t{3});
  Set(offsetof(StageFile, other_thread_end_count), int64_t{4});
  Set(offsetof(StageFile, unrecorded_visit_count), int64_t{5});
  Set(offsetof(StageFile, is_full), uint32_t{1});
  SetField(2, offsetof(StageRecord, left_open_count), int64_t{1});
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(
      image_.notes(),
      ElementsAre(HasSubstr("\"fit\" was not ended"),
                  HasSubstr("\"load\" ended before \"?\""), HasSubstr("3 ends"),
                  HasSubstr("4 ends"), HasSubstr("5 visits"),
                  HasSubstr("too many different stages")));
}

TEST_F(ReadStagesTest, WhatLeadsNowhereIsRefused) {
  SetField(1, offsetof(StageRecord, parent), uint32_t{1});
  ExpectDamaged("inside of a later one");
  Set(offsetof(StageFile, stage_count), kMaxStages + 1);
  ExpectDamaged("more stages than there can be");
  Set(offsetof(StageFile, stage_count), uint32_t{0});
  ExpectDamaged("or none");
  Set(offsetof(StageFile, magic), uint64_t{1});
  ExpectDamaged("this version");
}

TEST_F(ReadStagesTest, AFileThatWasCutShortIsRefused) {
  ASSERT_EQ(ftruncate(file_, offsetof(StageFile, stages)), 0);
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_EQ(ftruncate(file_, 5), 0);
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace footprint
