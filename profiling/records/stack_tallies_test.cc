#include "footprint/profiling/records/stack_tallies.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/stack_tallies_record.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::CallNode;
using profiling_internal::CallTreeRecord;
using profiling_internal::kMaxStackTallies;
using profiling_internal::kNoModule;
using profiling_internal::kStackTalliesMagic;
using profiling_internal::StackTalliesFile;
using profiling_internal::StackTally;

// Tests a sparse file with two calls and two tallies.
class StackTalliesTest : public testing::Test {
 protected:
  StackTalliesTest()
      : path_(testing::TempDir() + "/x.copies"),
        file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {
    EXPECT_EQ(ftruncate(file_, sizeof(StackTalliesFile)), 0);
    Set(offsetof(StackTalliesFile, magic), kStackTalliesMagic);
    Set(offsetof(StackTalliesFile, sampling_interval), int64_t{100});
    Set(offsetof(StackTalliesFile, tally_count), uint32_t{3});
    Set(offsetof(StackTalliesFile, missed_thread_count), uint32_t{4});
    Set(kTreeAt + offsetof(CallTreeRecord, node_count), uint32_t{3});
    SetNode(1, {0x1234, 0, kNoModule});
    SetNode(2, {0x99, 1, kNoModule});
    SetTally(1, /*node=*/2, /*bytes=*/700);
    SetTally(2, /*node=*/0, /*bytes=*/5);
  }
  ~StackTalliesTest() override { close(file_); }

  static constexpr size_t kTreeAt = offsetof(StackTalliesFile, tree);

  template <typename T>
  void Set(size_t offset, const T& value) {
    ASSERT_EQ(pwrite(file_, &value, sizeof(value), static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof(value)));
  }
  void SetNode(size_t i, const CallNode& node) {
    Set(kTreeAt + offsetof(CallTreeRecord, nodes) + i * sizeof(node), node);
  }
  void SetTally(size_t i, uint32_t node, int64_t bytes) {
    StackTally tally = {};
    tally.node = node;
    tally.thread = 7;
    tally.sample_count = 2;
    tally.amounts[0] = bytes;
    tally.amounts[1] = 3;
    tally.variance = 0.5;
    Set(offsetof(StackTalliesFile, tallies) + i * sizeof(tally), tally);
  }
  void ExpectDamaged(absl::string_view what) {
    EXPECT_THAT(
        ReadStackTallies(path_, "copies"),
        StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr(what)));
  }

  const std::string path_;
  const int file_;
};

TEST_F(StackTalliesTest, AreWhatTheFileHolds) {
  const auto tallies = ReadStackTallies(path_, "copies");
  ASSERT_THAT(tallies, IsOk());
  EXPECT_EQ(tallies->sampling_interval, 100);
  EXPECT_EQ(tallies->missed_thread_count, 4);
  ASSERT_EQ(tallies->tallies.size(), 2u);
  const StackTallies::Tally& first = tallies->tallies[0];
  EXPECT_EQ(first.node, 1);
  EXPECT_EQ(first.thread, 7u);
  EXPECT_EQ(first.sample_count, 2);
  EXPECT_EQ(first.amounts[0], 700);
  EXPECT_EQ(first.amounts[1], 3);
  EXPECT_EQ(first.variance, 0.5);
  EXPECT_EQ(tallies->tallies[1].node, CallTree::kNone);
  EXPECT_EQ(tallies->tree.nodes[1].parent, 0);
}

// The writer reserves an entry before it fills it.
TEST_F(StackTalliesTest, AnEntryThatIsBeingWrittenDoesNotCount) {
  Set(offsetof(StackTalliesFile, tally_count), uint32_t{5});
  const auto tallies = ReadStackTallies(path_, "copies");
  ASSERT_THAT(tallies, IsOk());
  EXPECT_EQ(tallies->tallies.size(), 2u);
}

TEST_F(StackTalliesTest, WhatLeadsNowhereIsRefused) {
  SetTally(2, /*node=*/3, 1);
  ExpectDamaged("no stack");
  SetTally(2, /*node=*/2, 1);
  Set(offsetof(StackTalliesFile, tally_count), kMaxStackTallies + 1);
  ExpectDamaged("longer than it can be");
  Set(offsetof(StackTalliesFile, magic), uint64_t{1});
  ExpectDamaged("copies by this version");
}

TEST_F(StackTalliesTest, AFileThatWasCutShortOrIsNotThereIsRefused) {
  ASSERT_EQ(ftruncate(file_, 5000), 0);
  EXPECT_THAT(ReadStackTallies(path_, "copies"),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadStackTallies(path_ + "none", "copies"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
