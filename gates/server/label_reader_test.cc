#include "footprint/gates/server/label_reader.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

TEST(LabelReaderTest, ReadsABundleOnce) {
  int read_count = 0;
  LabelReader labels([&](const std::string& path, const auto&) {
    ++read_count;
    return absl::StatusOr<std::string>("//A:" + path);
  });
  for (const char* submitter : {"a", "b", "a"}) {
    EXPECT_THAT(labels.Read(submitter, "hash", "x"), IsOkAndHolds("//A:x"));
  }
  EXPECT_EQ(read_count, 1);
  EXPECT_THAT(labels.Read("a", "other hash", "y"), IsOkAndHolds("//A:y"));
}

TEST(LabelReaderTest, KeepsOnlyWhatDoesNotChange) {
  absl::Status status = absl::UnavailableError("no memory");
  LabelReader labels([&](const std::string&, const auto&) {
    return absl::StatusOr<std::string>(status);
  });
  EXPECT_THAT(labels.Read("a", "hash", "x"), StatusIs(kUnavailable));
  status = absl::InvalidArgumentError("no bundle");
  EXPECT_THAT(labels.Read("a", "hash", "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  status = absl::UnavailableError("no memory");
  EXPECT_THAT(labels.Read("a", "hash", "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(LabelReaderTest, AReadThatThrowsKeepsNobodyFromReading) {
  int read_count = 0;
  LabelReader labels(
      [&](const std::string&, const auto&) -> absl::StatusOr<std::string> {
        if (++read_count <= 4) throw std::bad_alloc();
        return "//A:x";
      });
  for (int i = 0; i < 4; ++i) {
    EXPECT_THROW((void)labels.Read("a", "hash", "x"), std::bad_alloc);
  }
  EXPECT_THAT(labels.Read("a", "hash", "x"), IsOkAndHolds("//A:x"));
}

TEST(LabelReaderTest, ALongReadMakesItsSubmitterWait) {
  double now = 100;
  double read_seconds = 20;
  LabelReader labels(
      [&](const std::string&, const auto&) {
        now += read_seconds;
        return absl::StatusOr<std::string>("//A:x");
      },
      [&] { return now; });
  EXPECT_THAT(labels.Read("slow", "1", "x"), IsOk());
  EXPECT_THAT(labels.Read("slow", "2", "x"),
              StatusIs(kUnavailable, HasSubstr("send this one in 60 s")));
  // A label that is known needs no read.
  EXPECT_THAT(labels.Read("slow", "1", "x"), IsOk());
  read_seconds = 1;
  EXPECT_THAT(labels.Read("other", "3", "x"), IsOk());
  EXPECT_THAT(labels.Read("other", "4", "x"), IsOk());
  now = 179.5;
  EXPECT_THAT(labels.Read("slow", "2", "x"),
              StatusIs(kUnavailable, HasSubstr("send this one in 1 s")));
  now = 180;
  EXPECT_THAT(labels.Read("slow", "2", "x"), IsOk());
}

// One thread reads, two more wait, and all others are refused at once. Stop
// ends them all.
TEST(LabelReaderTest, ASubmitterHoldsFewThreadsAndStopEndsThem) {
  std::atomic<int> reader_count{0};
  std::atomic<int> most_readers{0};
  LabelReader labels(
      [&](const std::string&,
          const auto& is_stopped) -> absl::StatusOr<std::string> {
        most_readers = std::max(most_readers.load(), ++reader_count);
        while (!is_stopped()) std::this_thread::yield();
        --reader_count;
        return absl::CancelledError("stopped");
      });
  std::atomic<int> refused_count{0};
  std::atomic<int> ended_count{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&, i] {
      const absl::Status status =
          labels.Read("hostile", absl::StrCat("hash ", i), "x").status();
      EXPECT_THAT(status, StatusIs(kUnavailable));
      const bool is_refused =
          absl::StrContains(status.message(), "3 bundles of this token");
      ++(is_refused ? refused_count : ended_count);
    });
  }
  while (refused_count < 7) std::this_thread::yield();
  labels.Stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused_count, 7);
  EXPECT_EQ(ended_count, 3);
  EXPECT_EQ(most_readers, 1);
  EXPECT_THAT(labels.Read("other", "hash", "x"),
              StatusIs(kUnavailable, HasSubstr("the server ends")));
}

}  // namespace
}  // namespace footprint
