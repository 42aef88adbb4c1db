#include "footprint/profiling/runs/measured_run_file.h"

#include <limits>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Path() { return testing::TempDir() + "/a.run"; }

void Write(absl::string_view bytes) {
  ASSERT_THAT(ReplaceFile(Path(), bytes, ToDisk::kNoFsync), IsOk());
}

// Returns a run of one process with one site, call and frame.
MeasuredRun SmallRun() {
  MeasuredRun run;
  run.set_schema_version(kMeasuredRunSchemaVersion);
  run.add_frames()->set_function("main");
  run.add_calls();
  MeasuredImage* const image = run.add_images();
  image->add_threads();
  image->add_stages();
  image->add_sites()->set_call(1);
  image->add_mappings();
  image->add_copies();
  image->add_processor_time();
  image->add_timeline();
  image->add_suspected_leaks();
  return run;
}

TEST(MeasuredRunFileTest, WhatWasWrittenIsRead) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    ASSERT_THAT(WriteMeasuredRunFile(run, Path()), IsOk());
    const auto read = ReadMeasuredRunFile(Path());
    ASSERT_THAT(read, IsOk());
    EXPECT_TRUE(MessageDifferencer::Equals(run, *read)) << seed;
  }
}

TEST(MeasuredRunFileTest, OtherFilesAreRefused) {
  Write("no run at all");
  EXPECT_THAT(ReadMeasuredRunFile(Path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(Path()), HasSubstr("not a measured run"),
                             HasSubstr("memprof --record=FILE"))));
  EXPECT_THAT(ReadMeasuredRunFile(Path() + ".none"),
              StatusIs(absl::StatusCode::kNotFound));
}

// Whatever damage a file has, a reader reports it and does not accept the file.
TEST(MeasuredRunFileTest, ADamagedFileIsRefused) {
  ASSERT_THAT(WriteMeasuredRunFile(SmallRun(), Path()), IsOk());
  const auto whole = ReadWholeFile(Path());
  ASSERT_THAT(whole, IsOk());
  for (size_t size = 0; size < whole->size(); ++size) {
    Write(whole->substr(0, size));
    EXPECT_THAT(ReadMeasuredRunFile(Path()), Not(IsOk())) << "cut to " << size;
  }
  for (size_t bit = 0; bit < whole->size() * 8; ++bit) {
    std::string damaged = *whole;
    damaged[bit / 8] =
        static_cast<char>(damaged[bit / 8] ^ (1 << static_cast<int>(bit % 8)));
    Write(damaged);
    EXPECT_THAT(ReadMeasuredRunFile(Path()), Not(IsOk())) << "bit " << bit;
  }
}

// A checksum only finds accidents, so indices are checked as well.
TEST(MeasuredRunFileTest, IndicesThatLeadNowhereAreRefused) {
  const auto expect_refused = [](const MeasuredRun& run, const char* what) {
    EXPECT_THAT(CheckMeasuredRun(run),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what)));
  };
  EXPECT_THAT(CheckMeasuredRun(SmallRun()), IsOk());
  MeasuredRun run = SmallRun();
  run.mutable_calls(0)->set_frame(1);
  expect_refused(run, "frame 1 does not exist");
  run = SmallRun();
  run.mutable_calls(0)->set_parent(1);
  expect_refused(run, "call 1 does not exist");
  run = SmallRun();
  run.mutable_images(0)->mutable_sites(0)->set_call(2);
  expect_refused(run, "call 2 does not exist");
  run = SmallRun();
  run.mutable_images(0)->mutable_sites(0)->set_thread(1);
  expect_refused(run, "thread 1 does not exist");
  run = SmallRun();
  run.mutable_images(0)->mutable_sites(0)->set_stage(~0u);
  expect_refused(run, "stage 4294967295 does not exist");
  run = SmallRun();
  run.mutable_images(0)->mutable_mappings(0)->set_call(2);
  expect_refused(run, "call 2");
  run = SmallRun();
  run.mutable_images(0)->mutable_mappings(0)->set_stage(1);
  expect_refused(run, "stage 1");
  run = SmallRun();
  run.mutable_images(0)->mutable_copies(0)->set_call(2);
  expect_refused(run, "call 2");
  run = SmallRun();
  run.mutable_images(0)->mutable_processor_time(0)->set_thread(3);
  expect_refused(run, "thread 3");
  run = SmallRun();
  run.mutable_images(0)->mutable_timeline(0)->set_stage(1);
  expect_refused(run, "stage 1");
  run = SmallRun();
  run.mutable_images(0)->mutable_suspected_leaks(0)->set_call(2);
  expect_refused(run, "call 2");
  run = SmallRun();
  LiveMoment* moment = run.mutable_images(0)->add_moments();
  moment->add_calls(2);
  moment->add_bytes(1);
  expect_refused(run, "call 2");
  moment->set_calls(0, 1);
  EXPECT_THAT(CheckMeasuredRun(run), IsOk());
  moment->set_bytes(0, 0);
  expect_refused(run, "a call has 0 bytes at a moment");
  moment->add_calls(1);
  expect_refused(run, "has 2 calls and 1 figures");
  moment->clear_calls();
  moment->clear_bytes();
  moment->set_time_ns(-1);
  expect_refused(run, "the moment of -1 ns");
  moment->set_time_ns(5);
  run.mutable_images(0)->add_moments()->set_time_ns(4);
  expect_refused(run, "the moment of 4 ns has 0 calls and 0 figures, after 5");
  run = SmallRun();
  run.mutable_images(0)->add_stages()->set_parent(1);
  expect_refused(run, "stage 1");
  run = SmallRun();
  run.mutable_images(0)->set_peak_live_bytes(-1);
  expect_refused(run, "bytes of a process are -1");
  run = SmallRun();
  run.mutable_images(0)->mutable_timeline(0)->set_time_ns(-5);
  expect_refused(run, "a time is -5");
  run = SmallRun();
  run.mutable_images(0)->mutable_timeline(0)->set_time_ns(1000);
  TimelinePoint* const point = run.mutable_images(0)->add_timeline();
  point->set_time_ns(1000);
  EXPECT_THAT(CheckMeasuredRun(run), IsOk());
  point->set_time_ns(940);
  expect_refused(run, "the timeline goes back from 1000 ns to 940 ns");
  for (double variance : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity()}) {
    run = SmallRun();
    run.mutable_images(0)->mutable_sites(0)->mutable_at_peak()->set_variance(
        variance);
    expect_refused(run, "a variance is");
    run = SmallRun();
    run.mutable_images(0)->mutable_sites(0)->mutable_at_end()->set_variance(
        variance);
    expect_refused(run, "a variance is");
  }
  ASSERT_THAT(WriteMeasuredRunFile(run, Path()), IsOk());
  EXPECT_THAT(ReadMeasuredRunFile(Path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not a consistent measured run")));
}

}  // namespace
}  // namespace footprint
