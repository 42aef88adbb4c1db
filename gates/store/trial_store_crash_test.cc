// Kills the process of a store, or cuts its power, at any moment. Everything
// that was acknowledged must still be there.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/power_loss_layer.h"
#include "footprint/gates/store/trial_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int kTrials = 2;

// Numbers of trials that were acknowledged.
struct Acknowledged {
  int submitted_count = 0;
  int decided_count = 0;
};

std::string MakeBundleName(int number) {
  return absl::StrCat("bundle ", number);
}
std::string MakeResult(int number) {
  return absl::StrCat("verdict ", number, std::string(700, 'x'));
}

NewTrial MakeTrial(int number) {
  NewTrial trial;
  trial.bundle_sha256 = Sha256Hex(MakeBundleName(number));
  trial.key = Sha256Hex(absl::StrCat("key ", number));
  return trial;
}

absl::Status Submit(TrialStore* store, int number) {
  const NewTrial trial = MakeTrial(number);
  const std::string bundle = MakeBundleName(number);
  absl::StatusOr<BundleUpload> upload = store->StartUpload(
      trial.bundle_sha256, static_cast<int64_t>(bundle.size()));
  if (!upload.ok()) return upload.status();
  absl::Status status = upload->Append(bundle);
  if (status.ok()) status = upload->Finish();
  return status.ok() ? store->Submit(trial).status() : status;
}

absl::Status DecideNext(TrialStore* store, int number) {
  const absl::StatusOr<absl::optional<StoredTrial>> claimed = store->Claim();
  if (!claimed.ok()) return claimed.status();
  if (!claimed->has_value() || (*claimed)->key != MakeTrial(number).key) {
    return absl::DataLossError("another trial is the next");
  }
  return store->Decide((*claimed)->sequence, {0, "", MakeResult(number)});
}

// Submits and decides trials one after another. Calls `acknowledge` after each
// step.
template <typename Acknowledge>
absl::Status Work(const std::string& folder, const TrialStoreOptions& options,
                  Acknowledged done, int most, Acknowledge acknowledge) {
  absl::StatusOr<std::unique_ptr<TrialStore>> store =
      TrialStore::Open(folder, options);
  if (!store.ok()) return store.status();
  while (done.decided_count < most) {
    absl::Status status;
    if (done.submitted_count == done.decided_count) {
      status = Submit(store->get(), done.submitted_count);
      ++done.submitted_count;
    } else {
      status = DecideNext(store->get(), done.decided_count);
      ++done.decided_count;
    }
    if (!status.ok()) return status;
    acknowledge(done);
  }
  return absl::OkStatus();
}

// Returns the numbers of trials in the store, and checks that nothing
// acknowledged is missing.
Acknowledged Check(const std::string& folder, const Acknowledged& least) {
  Acknowledged found;
  absl::StatusOr<std::unique_ptr<TrialStore>> store =
      TrialStore::Open(folder, {});
  EXPECT_THAT(store, IsOk());
  if (!store.ok()) return found;
  while (true) {
    const absl::StatusOr<StoredTrial> trial =
        (*store)->Find(MakeTrial(found.submitted_count).key);
    if (!trial.ok()) break;
    EXPECT_EQ(ReadTestFile((*store)->PathOfBundle(trial->bundle_sha256)),
              MakeBundleName(found.submitted_count));
    if (trial->state == TrialState::kDecided) {
      EXPECT_EQ(trial->result, MakeResult(found.decided_count));
      ++found.decided_count;
    }
    ++found.submitted_count;
  }
  EXPECT_GE(found.submitted_count, least.submitted_count);
  EXPECT_GE(found.decided_count, least.decided_count);
  // Nothing more than was requested is there.
  EXPECT_LE(found.submitted_count, least.submitted_count + 1);
  EXPECT_LE(found.decided_count, least.decided_count + 1);
  return found;
}

TEST(TrialStoreCrashTest, APowerLossLosesNothingAcknowledged) {
  int loss_count = 0;
  for (int64_t operation = 1;; ++operation) {
    const std::string folder = TestPath(absl::StrCat("power", operation));
    Acknowledged kept;
    bool was_lost = false;
    {
      PowerLossLayer layer(operation);
      TrialStoreOptions options;
      options.file_layer = layer.name();
      Work(folder, options, {}, kTrials, [&](const Acknowledged& done) {
        kept = done;
      }).IgnoreError();
      was_lost = layer.operation_count() >= operation;
      layer.LosePower(static_cast<uint64_t>(operation));
    }
    SCOPED_TRACE(absl::StrCat("power lost at operation ", operation));
    const Acknowledged found = Check(folder, kept);
    if (!was_lost) {
      EXPECT_EQ(found.decided_count, kTrials);
      break;
    }
    ++loss_count;
    if (testing::Test::HasFailure()) break;
  }
  // Each write, flush and truncation in a store's life was once the last.
  EXPECT_GT(loss_count, 60);
}

TEST(TrialStoreCrashTest, AKilledProcessLosesNothingAcknowledged) {
  const std::string folder = TestPath("killed");
  RandomSequence random(/*seed=*/3);
  Acknowledged kept;
  for (int kill_count = 0; kill_count < 30; ++kill_count) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      Work(folder, {}, kept, 1000000, [&](const Acknowledged& done) {
        if (write(ends[1], &done, sizeof(done)) != sizeof(done)) _exit(1);
      }).IgnoreError();
      _exit(2);
    }
    close(ends[1]);
    // Kills the process at some moment after an acknowledgement.
    const int wanted = 1 + static_cast<int>(random.Below(8));
    Acknowledged done;
    for (int i = 0; i < wanted; ++i) {
      ASSERT_EQ(read(ends[0], &done, sizeof(done)),
                static_cast<ssize_t>(sizeof(done)));
      kept = done;
    }
    usleep(static_cast<useconds_t>(random.Below(4000)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &done, sizeof(done)) == sizeof(done)) kept = done;
    close(ends[0]);
    SCOPED_TRACE(absl::StrCat("killed ", kill_count, " times before"));
    kept = Check(folder, kept);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(kept.decided_count, 30);
}

}  // namespace
}  // namespace footprint
