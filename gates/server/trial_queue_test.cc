#include "footprint/gates/server/trial_queue.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/sqlite_database.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

class TrialQueueTest : public testing::Test {
 protected:
  void SetUp() override { OpenStore(); }

  void OpenStore() {
    absl::StatusOr<std::unique_ptr<TrialStore>> store = TrialStore::Open(
        TestPath(testing::UnitTest::GetInstance()->current_test_info()->name()),
        {});
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  // Submits a bundle. Returns its key.
  std::string Submit(const std::string& bundle) {
    NewTrial trial;
    trial.bundle_sha256 = Sha256Hex(bundle);
    trial.key = trial.bundle_sha256;
    trial.submitter = "ci";
    absl::StatusOr<BundleUpload> upload = store_->StartUpload(
        trial.bundle_sha256, static_cast<int64_t>(bundle.size()));
    EXPECT_THAT(upload, IsOk());
    EXPECT_THAT(upload->Append(bundle), IsOk());
    EXPECT_THAT(upload->Finish(), IsOk());
    EXPECT_THAT(store_->Submit(trial), IsOk());
    return trial.key;
  }

  StoredTrial Await(const std::string& key) {
    while (true) {
      const absl::StatusOr<StoredTrial> trial = store_->Find(key);
      EXPECT_THAT(trial, IsOk());
      if (!trial.ok() || trial->state == TrialState::kDecided) {
        return trial.ok() ? *trial : StoredTrial();
      }
      usleep(1000);
    }
  }

  std::unique_ptr<TrialStore> store_;
};

absl::StatusOr<StoredResult> RejectByContent(const TrialToRun& trial) {
  StoredResult result;
  result.mutable_verdict()->set_decision(REJECT);
  result.set_deployment(ReadTestFile(trial.bundle_path));
  return result;
}

TEST_F(TrialQueueTest, RunsWhatWaitedAndWhatComes) {
  const std::string before = Submit("//before");
  TrialQueue queue(store_.get(), RejectByContent, {/*thread_count=*/2});
  queue.Start();
  EXPECT_EQ(Await(before).decision, REJECT);
  const std::string after = Submit("//after");
  queue.NoticeSubmission();
  const StoredTrial trial = Await(after);
  EXPECT_EQ(trial.deployment, "//after");
  StoredResult result;
  ASSERT_TRUE(result.ParseFromString(trial.result));
  EXPECT_EQ(result.verdict().decision(), REJECT);
  queue.Stop();
  EXPECT_EQ(queue.Decided()[REJECT], 2);
}

TEST_F(TrialQueueTest, ATrialHasItsKeyAndTheHashOfItsBundle) {
  const std::string key = Submit("//bytes");
  TrialQueue queue(store_.get(),
                   [&](const TrialToRun& trial) {
                     EXPECT_EQ(trial.trial, key);
                     EXPECT_EQ(trial.submitter, "ci");
                     EXPECT_EQ(trial.bundle_sha256, Sha256Hex("//bytes"));
                     return RejectByContent(trial);
                   },
                   {});
  queue.Start();
  EXPECT_EQ(Await(key).decision, REJECT);
}

TEST_F(TrialQueueTest, AnErrorIsInconclusiveAndSaysWhy) {
  const std::string key = Submit("x");
  TrialQueue queue(
      store_.get(),
      [](const TrialToRun&) { return absl::NotFoundError("no cgroup"); }, {});
  queue.Start();
  const StoredTrial trial = Await(key);
  EXPECT_EQ(trial.decision, INCONCLUSIVE);
  StoredResult result;
  ASSERT_TRUE(result.ParseFromString(trial.result));
  EXPECT_THAT(result.verdict().problems(0).message(), HasSubstr("no cgroup"));
}

TEST_F(TrialQueueTest, AFullDiskIsNoVerdictOnABundle) {
  const std::string key = Submit("x");
  std::atomic<int> run_count = 0;
  TrialQueue queue(
      store_.get(),
      [&](const TrialToRun& trial) -> absl::StatusOr<StoredResult> {
        if (++run_count == 1) {
          return absl::AbortedError("/work: no space left");
        }
        return RejectByContent(trial);
      },
      {/*thread_count=*/1, /*most_attempts=*/1});
  queue.Start();
  EXPECT_EQ(Await(key).decision, REJECT);
  EXPECT_EQ(run_count, 2);
}

TEST_F(TrialQueueTest, ATrialThatWaitsForRoomLetsOthersPass) {
  const std::string large = Submit("//large");
  std::atomic<bool> has_room = false;
  TrialQueue queue(
      store_.get(),
      [&](const TrialToRun& trial) -> absl::StatusOr<StoredResult> {
        if (trial.trial == large && !has_room) {
          return absl::ResourceExhaustedError("/work: no space left");
        }
        return RejectByContent(trial);
      },
      {/*thread_count=*/1, /*most_attempts=*/1});
  queue.Start();
  while (queue.FindStage(1).find("no space") == std::string::npos) usleep(1000);
  for (int i = 0; i < 3; ++i) {
    const std::string small = Submit(absl::StrCat("//small", i));
    queue.NoticeSubmission();
    EXPECT_EQ(Await(small).decision, REJECT);
    EXPECT_THAT(queue.FindStage(1), HasSubstr("waiting for room"));
  }
  has_room = true;
  EXPECT_EQ(Await(large).decision, REJECT);
  queue.Stop();
  EXPECT_EQ(queue.FindStage(1), "");
}

TEST_F(TrialQueueTest, AQueueThatStopsEndsWhatUnpacks) {
  const std::string key = Submit("x");
  std::atomic<bool> is_running = false;
  // As often as an operator likes: that is no fault of the bundle.
  for (int i = 0; i < 5; ++i) {
    is_running = false;
    TrialQueue queue(
        store_.get(),
        [&](const TrialToRun& trial) -> absl::StatusOr<StoredResult> {
          is_running = true;
          while (!trial.is_stopped()) usleep(1000);
          return absl::CancelledError("stopped");
        },
        {});
    queue.Start();
    while (!is_running) usleep(1000);
    queue.Stop();
  }
  EXPECT_EQ(store_->Find(key)->state, TrialState::kWaiting);
  EXPECT_EQ(store_->Find(key)->attempt_count, 0);
}

TEST_F(TrialQueueTest, AVerdictThatCannotBeReadAgainIsNotKept) {
  const std::string key = Submit("x");
  TrialQueue queue(store_.get(),
                   [](const TrialToRun&) {
                     StoredResult result;
                     result.set_deployment("//gr\xf6");
                     result.mutable_verdict()->set_decision(ACCEPT);
                     return result;
                   },
                   {});
  queue.Start();
  const StoredTrial trial = Await(key);
  EXPECT_EQ(trial.decision, INCONCLUSIVE);
  StoredResult result;
  ASSERT_TRUE(result.ParseFromString(trial.result));
  EXPECT_THAT(result.verdict().problems(0).message(), HasSubstr("not UTF-8"));
}

TEST_F(TrialQueueTest, WhatEndsItsServerAgainAndAgainIsGivenUp) {
  const std::string key = Submit("x");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*store_->Claim()).has_value());
    store_.reset();
    OpenStore();
  }
  std::atomic<int> run_count = 0;
  TrialQueue queue(store_.get(),
                   [&](const TrialToRun& trial) {
                     ++run_count;
                     return RejectByContent(trial);
                   },
                   {});
  queue.Start();
  EXPECT_EQ(Await(key).decision, INCONCLUSIVE);
  EXPECT_EQ(run_count, 0);
}

// Makes the store fail to write results, as on a full disk, from outside.
class FullDisk {
 public:
  explicit FullDisk(const std::string& store_name)
      : database_(
            SqliteDatabase::Open(TestPath(store_name) + "/trials.sqlite", {})) {
    EXPECT_THAT(database_, IsOk());
    EXPECT_THAT(
        database_->Execute("CREATE TRIGGER full BEFORE INSERT ON result BEGIN "
                           "SELECT RAISE(ABORT, 'no room'); END"),
        IsOk());
  }
  void Free() { EXPECT_THAT(database_->Execute("DROP TRIGGER full"), IsOk()); }

 private:
  absl::StatusOr<SqliteDatabase> database_;
};

// The stage of a trial until its verdict is kept; the reason follows.
constexpr char kWaits[] = "waiting to keep the verdict: ";

TEST_F(TrialQueueTest, AVerdictWithoutRoomIsKeptOnceThereIsSome) {
  FullDisk disk("AVerdictWithoutRoomIsKeptOnceThereIsSome");
  const std::string key = Submit("x");
  std::atomic<int> run_count = 0;
  TrialQueue queue(store_.get(),
                   [&](const TrialToRun& trial) {
                     ++run_count;
                     return RejectByContent(trial);
                   },
                   {/*thread_count=*/1, /*most_attempts=*/1});
  queue.Start();
  while (!absl::StartsWith(queue.FindStage(1), kWaits)) usleep(1000);
  EXPECT_THAT(queue.FindStage(1), HasSubstr("no room"));
  EXPECT_EQ(queue.Decided()[REJECT], 0);
  disk.Free();
  EXPECT_EQ(Await(key).decision, REJECT);
  EXPECT_EQ(run_count, 1);
  queue.Stop();
  EXPECT_EQ(queue.Decided()[REJECT], 1);
}

TEST_F(TrialQueueTest, AVerdictWithoutRoomWaitsForTheNextServer) {
  const FullDisk disk("AVerdictWithoutRoomWaitsForTheNextServer");
  const std::string key = Submit("x");
  TrialQueue queue(store_.get(), RejectByContent, {});
  queue.Start();
  while (!absl::StartsWith(queue.FindStage(1), kWaits)) usleep(1000);
  queue.Stop();
  const absl::StatusOr<StoredTrial> trial = store_->Find(key);
  ASSERT_THAT(trial, IsOk());
  EXPECT_EQ(trial->state, TrialState::kWaiting);
  EXPECT_EQ(queue.Decided()[REJECT], 0);
}

TEST_F(TrialQueueTest, AsManyRunAtOnceAsAreAllowedAndTellTheirStage) {
  std::set<std::string> keys;
  for (int i = 0; i < 6; ++i) keys.insert(Submit(absl::StrCat("b", i)));
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<bool> goes_on = false;
  TrialQueue queue(
      store_.get(),
      [&](const TrialToRun& trial) {
        trial.report_stage("proving");
        const int now = ++running;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        while (!goes_on) usleep(1000);
        --running;
        return RejectByContent(trial);
      },
      {/*thread_count=*/3});
  queue.Start();
  while (running < 3) usleep(1000);
  EXPECT_EQ(queue.FindStage(1), "proving");
  EXPECT_EQ(queue.FindStage(4), "");
  goes_on = true;
  for (const std::string& key : keys) Await(key);
  EXPECT_EQ(most, 3);
  queue.Stop();
  EXPECT_EQ(queue.FindStage(1), "");
}

}  // namespace
}  // namespace footprint
