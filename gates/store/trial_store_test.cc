#include "footprint/gates/store/trial_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/power_loss_layer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::unique_ptr<TrialStore> OpenStore(const std::string& name,
                                      const TrialStoreOptions& options = {}) {
  absl::StatusOr<std::unique_ptr<TrialStore>> store =
      TrialStore::Open(TestPath(name), options);
  EXPECT_THAT(store, IsOk());
  return store.ok() ? *std::move(store) : nullptr;
}

NewTrial MakeTrial(const std::string& bundle) {
  NewTrial trial;
  trial.bundle_sha256 = Sha256Hex(bundle);
  trial.key = Sha256Hex(absl::StrCat("key of ", bundle));
  trial.submitter = "someone";
  trial.deployment = "//a:b";
  return trial;
}

absl::StatusOr<Submission> SubmitBytes(TrialStore* store,
                                       const std::string& bundle) {
  const NewTrial trial = MakeTrial(bundle);
  absl::StatusOr<BundleUpload> upload = store->StartUpload(
      trial.bundle_sha256, static_cast<int64_t>(bundle.size()));
  if (!upload.ok()) return upload.status();
  absl::Status status = upload->Append(bundle);
  if (status.ok()) status = upload->Finish();
  if (!status.ok()) return status;
  return store->Submit(trial);
}

TEST(TrialStoreTest, ABundleThatItsCheckRefusesIsRemoved) {
  const auto store = OpenStore("checked");
  NewTrial trial = MakeTrial("refused");
  std::string seen;
  trial.check_bundle = [&](const std::string& path) {
    seen = ReadTestFile(path);
    return absl::PermissionDeniedError("not yours");
  };
  EXPECT_THAT(store->Submit(trial), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(seen, "") << "there is no bundle to check";
  absl::StatusOr<BundleUpload> upload =
      store->StartUpload(trial.bundle_sha256, 7);
  ASSERT_THAT(upload, IsOk());
  ASSERT_THAT(upload->Append("refused"), IsOk());
  ASSERT_THAT(upload->Finish(), IsOk());
  EXPECT_THAT(store->Submit(trial),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_EQ(seen, "refused");
  EXPECT_FALSE(store->HasBundle(trial.bundle_sha256));
  EXPECT_THAT(store->Find(trial.key), StatusIs(absl::StatusCode::kNotFound));
  // The bundle of another trial stays.
  ASSERT_THAT(SubmitBytes(store.get(), "refused"), IsOk());
  trial.key = Sha256Hex("another key");
  EXPECT_THAT(store->Submit(trial),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_TRUE(store->HasBundle(trial.bundle_sha256));
}

absl::Status DecideNext(TrialStore* store, const std::string& result) {
  const absl::StatusOr<absl::optional<StoredTrial>> claimed = store->Claim();
  if (!claimed.ok()) return claimed.status();
  if (!claimed->has_value()) return absl::NotFoundError("nothing waits");
  return store->Decide((*claimed)->sequence, {1, "", result});
}

TEST(TrialStoreTest, ExistsOnceItWasOpened) {
  EXPECT_FALSE(TrialStore::Exists(TestPath("exists")));
  const auto store = OpenStore("exists");
  EXPECT_TRUE(TrialStore::Exists(TestPath("exists")));
}

TEST(TrialStoreTest, ATrialWaitsRunsAndIsDecided) {
  const auto store = OpenStore("life");
  const absl::StatusOr<Submission> submitted = SubmitBytes(store.get(), "a");
  ASSERT_THAT(submitted, IsOk());
  EXPECT_TRUE(submitted->is_new);
  EXPECT_EQ(submitted->trial.state, TrialState::kWaiting);
  const std::string key = MakeTrial("a").key;
  EXPECT_EQ(store->Find(key)->state, TrialState::kWaiting);

  const absl::StatusOr<absl::optional<StoredTrial>> claimed = store->Claim();
  ASSERT_THAT(claimed, IsOk());
  ASSERT_TRUE(claimed->has_value());
  EXPECT_EQ((*claimed)->key, key);
  EXPECT_EQ((*claimed)->attempt_count, 1);
  EXPECT_EQ(ReadTestFile(store->PathOfBundle((*claimed)->bundle_sha256)), "a");
  EXPECT_EQ(store->Find(key)->state, TrialState::kRunning);
  EXPECT_FALSE((*store->Claim()).has_value());

  const std::string result("bytes\0of it", 11);
  const TrialOutcome outcome = {4, "//c:d", result};
  ASSERT_THAT(store->Decide((*claimed)->sequence, outcome), IsOk());
  const absl::StatusOr<StoredTrial> found = store->Find(key);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->state, TrialState::kDecided);
  EXPECT_EQ(found->decision, 4);
  EXPECT_EQ(found->decided_order, 1);
  EXPECT_EQ(found->deployment, "//c:d");
  EXPECT_EQ(found->submitter, "someone");
  EXPECT_EQ(found->result, result);
  EXPECT_THAT(store->Decide((*claimed)->sequence, outcome),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(store->Find("none"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(TrialStoreTest, TheSameTrialIsAnsweredFromTheStore) {
  const auto store = OpenStore("same");
  ASSERT_THAT(SubmitBytes(store.get(), "a"), IsOk());
  const absl::StatusOr<Submission> second = store->Submit(MakeTrial("a"));
  ASSERT_THAT(second, IsOk());
  EXPECT_FALSE(second->is_new);
  ASSERT_THAT(DecideNext(store.get(), "verdict"), IsOk());
  const absl::StatusOr<Submission> third = SubmitBytes(store.get(), "a");
  ASSERT_THAT(third, IsOk());
  EXPECT_FALSE(third->is_new);
  EXPECT_EQ(third->trial.state, TrialState::kDecided);
  // The same bytes for another judge are a new trial.
  NewTrial other = MakeTrial("a");
  other.key = Sha256Hex("other thresholds");
  EXPECT_TRUE(store->Submit(other)->is_new);
  // These bytes were never sent.
  EXPECT_THAT(store->Submit(MakeTrial("b")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(TrialStoreTest, VerdictsAreFoundInTheirOrder) {
  const auto store = OpenStore("verdicts_in_order");
  EXPECT_THAT(store->LastDecidedOrder(), IsOkAndHolds(0));
  for (const char* bundle : {"a", "b", "c"}) {
    ASSERT_THAT(SubmitBytes(store.get(), bundle), IsOk());
  }
  EXPECT_FALSE((*store->FindDecidedAfter(0)).has_value());
  const int64_t a = (**store->Claim()).sequence;
  const int64_t b = (**store->Claim()).sequence;
  ASSERT_THAT(store->Decide(b, {1, "", "of b"}), IsOk());
  ASSERT_THAT(store->Decide(a, {0, "", "of a"}), IsOk());
  EXPECT_THAT(store->LastDecidedOrder(), IsOkAndHolds(2));
  const absl::StatusOr<absl::optional<StoredTrial>> first =
      store->FindDecidedAfter(0);
  ASSERT_THAT(first, IsOk());
  ASSERT_TRUE(first->has_value());
  EXPECT_EQ((*first)->key, MakeTrial("b").key);
  EXPECT_EQ((*first)->decided_order, 1);
  EXPECT_EQ((**store->FindDecidedAfter(1)).key, MakeTrial("a").key);
  EXPECT_FALSE((*store->FindDecidedAfter(2)).has_value());
}

TEST(TrialStoreTest, WhoSubmitsAWaitingTrialGivesItAnotherTurn) {
  const auto store = OpenStore("joined");
  for (const char* bundle : {"a", "b", "c"}) {
    ASSERT_THAT(SubmitBytes(store.get(), bundle), IsOk());
  }
  NewTrial same = MakeTrial("c");
  same.submitter = "another";
  const absl::StatusOr<Submission> joined = store->Submit(same);
  ASSERT_THAT(joined, IsOk());
  EXPECT_FALSE(joined->is_new);
  EXPECT_EQ((*store->Claim())->key, MakeTrial("a").key);
  EXPECT_EQ((*store->Claim())->key, same.key)
      << "the other one does not wait behind b";
  EXPECT_EQ((*store->Claim())->key, MakeTrial("b").key);
  EXPECT_FALSE((*store->Claim()).has_value());
}

TEST(TrialStoreTest, WhatWaitsOrRanWaitsAgainInItsOrder) {
  auto store = OpenStore("again");
  for (const char* bundle : {"a", "b", "c"}) {
    ASSERT_THAT(SubmitBytes(store.get(), bundle), IsOk());
  }
  ASSERT_THAT(DecideNext(store.get(), "verdict of a"), IsOk());
  ASSERT_TRUE((*store->Claim()).has_value());
  store.reset();
  store = OpenStore("again");
  EXPECT_EQ(store->Find(MakeTrial("a").key)->result, "verdict of a");
  EXPECT_EQ(store->Find(MakeTrial("b").key)->state, TrialState::kWaiting);
  const auto b = store->Claim();
  EXPECT_EQ((*b)->key, MakeTrial("b").key);
  EXPECT_EQ((*b)->attempt_count, 2);
  const auto c = store->Claim();
  EXPECT_EQ((*c)->key, MakeTrial("c").key);
  EXPECT_FALSE((*store->Claim()).has_value());
  // A server that stops in good order releases it, and is no attempt.
  EXPECT_THAT(store->Release((*b)->sequence), IsOk());
  EXPECT_THAT(store->Release((*b)->sequence), IsOk());
  const auto released = store->Claim();
  EXPECT_EQ((*released)->key, MakeTrial("b").key);
  EXPECT_EQ((*released)->attempt_count, 2);
}

// On a full disk nothing changes, neither the state of a trial nor the number
// of its attempts. So a disk that is full for long takes no attempt.
TEST(TrialStoreTest, AFullDiskChangesNothingAndPasses) {
  PowerLossLayer layer(std::numeric_limits<int64_t>::max());
  TrialStoreOptions options;
  options.file_layer = layer.name();
  auto store = OpenStore("full", options);
  ASSERT_THAT(SubmitBytes(store.get(), "a"), IsOk());
  const std::string key = MakeTrial("a").key;
  const auto is_full =
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("full"));
  layer.SetFull(true);
  EXPECT_THAT(store->Claim(), is_full);
  EXPECT_THAT(SubmitBytes(store.get(), "b"), is_full);
  EXPECT_EQ(store->Find(key)->state, TrialState::kWaiting);
  layer.SetFull(false);
  const int64_t sequence = (**store->Claim()).sequence;
  layer.SetFull(true);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(store->Release(sequence), is_full);
    EXPECT_EQ(store->Find(key)->state, TrialState::kRunning);
    EXPECT_EQ(store->Find(key)->attempt_count, 1);
    EXPECT_FALSE((*store->Claim()).has_value()) << "the trial still runs";
  }
  EXPECT_THAT(store->Decide(sequence, {1, "", "verdict"}), is_full);
  EXPECT_EQ(store->Find(key)->state, TrialState::kRunning);
  EXPECT_FALSE(store->HasFailed());
  layer.SetFull(false);
  EXPECT_THAT(store->Release(sequence), IsOk());
  EXPECT_EQ(store->Find(key)->state, TrialState::kWaiting);
  EXPECT_EQ(store->Find(key)->attempt_count, 0);
  EXPECT_EQ((**store->Claim()).attempt_count, 1);
  EXPECT_THAT(store->Decide(sequence, {1, "", "verdict"}), IsOk());
  EXPECT_EQ(store->Find(key)->result, "verdict");
  EXPECT_THAT(store->Find(MakeTrial("b").key),
              StatusIs(absl::StatusCode::kNotFound));
  store.reset();
  store = OpenStore("full");
  EXPECT_EQ(store->Find(key)->result, "verdict");
}

TEST(TrialStoreTest, ASecondServerIsRefused) {
  const auto store = OpenStore("locked");
  EXPECT_THAT(TrialStore::Open(TestPath("locked"), {}),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("locked"), HasSubstr("server"))));
}

TEST(TrialStoreTest, ADamagedDatabaseRefusesToStart) {
  OpenStore("damaged");
  const std::string database = TestPath("damaged/trials.sqlite");
  std::string bytes = ReadTestFile(database);
  bytes.replace(4096, 8192, 8192, 'x');
  WriteTestFile("damaged/trials.sqlite", bytes);
  EXPECT_THAT(TrialStore::Open(TestPath("damaged"), {}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("To restore")));
  EXPECT_EQ(ReadTestFile(database), bytes);
}

// Makes a store with a verdict and a waiting trial, and closes it. Returns its
// folder.
std::string ClosedStore(const std::string& name) {
  const auto store = OpenStore(name);
  EXPECT_THAT(SubmitBytes(store.get(), "a"), IsOk());
  EXPECT_THAT(DecideNext(store.get(), "verdict of a"), IsOk());
  EXPECT_THAT(SubmitBytes(store.get(), "b"), IsOk());
  return TestPath(name);
}

TEST(TrialStoreTest, AnEmptyDatabaseBesideBundlesDeletesNone) {
  const std::string folder = ClosedStore("emptied");
  const std::string bundle = absl::StrCat(
      folder, "/bundles/", Sha256Hex("a").substr(0, 2), "/", Sha256Hex("a"));
  const std::string database = folder + "/trials.sqlite";
  ASSERT_EQ(truncate(database.c_str(), 0), 0);
  EXPECT_THAT(TrialStore::Open(folder, {}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("To restore")));
  EXPECT_EQ(ReadTestFile(bundle), "a");
  ASSERT_EQ(unlink(database.c_str()), 0);
  EXPECT_THAT(
      TrialStore::Open(folder, {}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("To begin anew")));
  EXPECT_EQ(ReadTestFile(bundle), "a");
}

// This happens if only the database is restored from a backup.
TEST(TrialStoreTest, ADatabaseThatKnowsNoneOfTheBundlesDeletesNone) {
  const std::string folder = ClosedStore("replaced");
  auto store = OpenStore("unrelated");
  store.reset();
  WriteTestFile("replaced/trials.sqlite",
                ReadTestFile(TestPath("unrelated/trials.sqlite")));
  TrialStoreOptions options;
  options.most_bundle_bytes = 2;
  store = OpenStore("replaced", options);
  EXPECT_TRUE(store->HasBundle(Sha256Hex("a")));
  EXPECT_TRUE(store->HasBundle(Sha256Hex("b")));
  EXPECT_EQ(store->Counts()->bundle_bytes, 2);
  // The unknown bundles make room first.
  EXPECT_THAT(SubmitBytes(store.get(), "c"), IsOk());
  EXPECT_EQ(store->HasBundle(Sha256Hex("a")) + store->HasBundle(Sha256Hex("b")),
            1);
  EXPECT_TRUE(store->HasBundle(Sha256Hex("c")));
}

// Returns everything that a client can learn from the store.
std::string ListAnswers(TrialStore* store) {
  std::string answers;
  for (const char* bundle : {"a", "b"}) {
    const absl::StatusOr<StoredTrial> trial =
        store->Find(MakeTrial(bundle).key);
    if (!trial.ok()) return std::string(trial.status().message());
    absl::StrAppend(&answers, trial->sequence, trial->bundle_sha256,
                    trial->deployment, trial->submitter,
                    static_cast<int>(trial->state), trial->attempt_count,
                    trial->submitted_unix_seconds, trial->decided_unix_seconds,
                    trial->decided_order, trial->decision, trial->result,
                    store->HasBundle(trial->bundle_sha256));
  }
  const absl::StatusOr<StoreCounts> counts = store->Counts();
  if (!counts.ok()) return std::string(counts.status().message());
  absl::StrAppend(&answers, counts->waiting, counts->decided,
                  counts->bundle_count, counts->bundle_bytes);
  return answers;
}

TEST(TrialStoreTest, AFlippedBitIsRefusedOrChangesNoAnswer) {
  const std::string folder = ClosedStore("flipped");
  const std::string whole = ReadTestFile(folder + "/trials.sqlite");
  const std::string answers = ListAnswers(OpenStore("flipped").get());
  int refused_count = 0;
  // Most bytes of a page are unused zeros, so few of them are damaged.
  for (size_t at = 0; at < whole.size(); at += whole[at] == 0 ? 251 : 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    WriteTestFile("flipped/trials.sqlite", damaged);
    unlink((folder + "/trials.sqlite-wal").c_str());
    unlink((folder + "/trials.sqlite-shm").c_str());
    const absl::StatusOr<std::unique_ptr<TrialStore>> store =
        TrialStore::Open(folder, {});
    if (store.ok()) {
      EXPECT_EQ(ListAnswers(store->get()), answers) << "byte " << at;
    } else {
      ++refused_count;
    }
    for (const char* bundle : {"a", "b"}) {
      const std::string sha256 = Sha256Hex(bundle);
      ASSERT_EQ(ReadTestFile(absl::StrCat(folder, "/bundles/",
                                          sha256.substr(0, 2), "/", sha256)),
                bundle)
          << "byte " << at;
    }
  }
  EXPECT_GT(refused_count, 100);
}

TEST(TrialStoreTest, AFullQueueRefuses) {
  TrialStoreOptions options;
  options.most_waiting = 2;
  const auto store = OpenStore("queue", options);
  ASSERT_THAT(SubmitBytes(store.get(), "a"), IsOk());
  ASSERT_THAT(SubmitBytes(store.get(), "b"), IsOk());
  EXPECT_THAT(SubmitBytes(store.get(), "c"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("queue")));
  EXPECT_FALSE(store->HasBundle(Sha256Hex("c")));
  // The refusal comes before the bytes are sent.
  EXPECT_THAT(store->StartUpload(Sha256Hex("c"), 1),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("queue")));
  EXPECT_FALSE(store->Submit(MakeTrial("a"))->is_new)
      << "known ones are answered";
  ASSERT_THAT(DecideNext(store.get(), ""), IsOk());
  EXPECT_THAT(SubmitBytes(store.get(), "c"), IsOk());
}

NewTrial MakeTrialOf(const std::string& submitter, int number) {
  NewTrial trial = MakeTrial("bundle");
  trial.key = Sha256Hex(absl::StrCat(submitter, " ", number));
  trial.submitter = submitter;
  return trial;
}

TEST(TrialStoreTest, SubmittersTakeTurnsAlsoAfterARestart) {
  auto store = OpenStore("turns");
  ASSERT_THAT(SubmitBytes(store.get(), "bundle"), IsOk());
  ASSERT_THAT(DecideNext(store.get(), ""), IsOk());
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(store->Submit(MakeTrialOf("many", i)), IsOk());
  }
  EXPECT_EQ((*store->Claim())->submitter, "many");
  ASSERT_THAT(store->Submit(MakeTrialOf("one", 0)), IsOk());
  EXPECT_EQ((*store->Claim())->submitter, "one");
  ASSERT_THAT(store->Submit(MakeTrialOf("other", 0)), IsOk());
  store.reset();
  store = OpenStore("turns");
  std::vector<std::string> order;
  for (int i = 0; i < 7; ++i) order.push_back((*store->Claim())->submitter);
  EXPECT_THAT(order, testing::ElementsAre("many", "one", "other", "many",
                                          "many", "many", "many"));
}

TEST(TrialStoreTest, ASubmitterHasAsManyUndecidedTrialsAsAllowed) {
  const auto store = OpenStore("cap");
  ASSERT_THAT(SubmitBytes(store.get(), "bundle"), IsOk());
  const auto submit = [&](const std::string& submitter, int number) {
    NewTrial trial = MakeTrialOf(submitter, number);
    trial.limits.most_undecided = 2;
    return store->Submit(trial);
  };
  ASSERT_THAT(submit("a", 1), IsOk());
  EXPECT_THAT(store->CheckTurn("a", 2), IsOk());
  ASSERT_THAT(submit("a", 2), IsOk());
  const auto is_refused = StatusIs(
      absl::StatusCode::kUnavailable,
      HasSubstr("'a' has as many trials without a verdict as it may have (2)"));
  EXPECT_THAT(submit("a", 3), is_refused);
  EXPECT_THAT(store->CheckTurn("a", 2), is_refused);
  EXPECT_THAT(store->CheckTurn("a", 0), IsOk()) << "0: no limit";
  EXPECT_FALSE(submit("a", 2)->is_new) << "known ones are answered";
  EXPECT_THAT(submit("b", 1), IsOk());
  // A trial that runs counts, one that is decided does not.
  while (true) {
    const StoredTrial claimed = **store->Claim();
    if (claimed.submitter != "a") continue;
    EXPECT_THAT(submit("a", 3), is_refused);
    ASSERT_THAT(store->Decide(claimed.sequence, {1, "", ""}), IsOk());
    break;
  }
  EXPECT_THAT(submit("a", 3), IsOk());
}

TEST(TrialStoreTest, LimitsOfBudgetAndTimeStayWithTheTrial) {
  auto store = OpenStore("limits");
  ASSERT_THAT(SubmitBytes(store.get(), "bundle"), IsOk());
  NewTrial trial = MakeTrialOf("limited", 1);
  trial.limits.most_budget_bytes = int64_t{5} << 30;
  trial.limits.most_seconds = 90;
  ASSERT_THAT(store->Submit(trial), IsOk());
  store.reset();
  store = OpenStore("limits");
  EXPECT_EQ((*store->Claim())->limits.most_budget_bytes, 0);
  const absl::StatusOr<absl::optional<StoredTrial>> claimed = store->Claim();
  ASSERT_THAT(claimed, IsOk());
  EXPECT_EQ((*claimed)->limits.most_budget_bytes, int64_t{5} << 30);
  EXPECT_EQ((*claimed)->limits.most_seconds, 90);
}

TEST(TrialStoreTest, AQueueThatFillsDuringAnUploadRefuses) {
  TrialStoreOptions options;
  options.most_waiting = 1;
  const auto store = OpenStore("filling", options);
  absl::StatusOr<BundleUpload> upload = store->StartUpload(Sha256Hex("c"), 1);
  ASSERT_THAT(upload, IsOk());
  ASSERT_THAT(SubmitBytes(store.get(), "a"), IsOk());
  ASSERT_THAT(upload->Append("c"), IsOk());
  ASSERT_THAT(upload->Finish(), IsOk());
  EXPECT_THAT(store->Submit(MakeTrial("c")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("queue")));
  EXPECT_FALSE(store->HasBundle(Sha256Hex("c")));
}

TEST(TrialStoreTest, TheOldestDecidedBundlesMakeRoom) {
  TrialStoreOptions options;
  options.most_bundle_bytes = 25;
  const auto store = OpenStore("room", options);
  const std::string a(10, 'a'), b(10, 'b'), c(10, 'c'), d(10, 'd');
  ASSERT_THAT(SubmitBytes(store.get(), a), IsOk());
  ASSERT_THAT(SubmitBytes(store.get(), b), IsOk());
  EXPECT_THAT(SubmitBytes(store.get(), c),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_FALSE(store->HasBundle(Sha256Hex(c)));
  ASSERT_THAT(DecideNext(store.get(), "verdict of a"), IsOk());
  EXPECT_THAT(SubmitBytes(store.get(), c), IsOk());
  EXPECT_FALSE(store->HasBundle(Sha256Hex(a)));
  EXPECT_TRUE(store->HasBundle(Sha256Hex(b)));
  EXPECT_EQ(store->Find(MakeTrial(a).key)->result, "verdict of a");
  EXPECT_EQ(store->Counts()->bundle_bytes, 20);
  EXPECT_THAT(store->StartUpload(Sha256Hex(d), 26),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(TrialStoreTest, AnEvictedBundleOfAKnownTrialIsNotKept) {
  TrialStoreOptions options;
  options.most_bundle_bytes = 1;
  const auto store = OpenStore("known", options);
  for (const char* bundle : {"a", "b"}) {
    ASSERT_THAT(SubmitBytes(store.get(), bundle), IsOk());
    ASSERT_THAT(DecideNext(store.get(), "verdict"), IsOk());
  }
  EXPECT_FALSE(store->HasBundle(Sha256Hex("a")));
  const absl::StatusOr<Submission> again = SubmitBytes(store.get(), "a");
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(again->is_new);
  EXPECT_FALSE(store->HasBundle(Sha256Hex("a")));
  // The bundle that has a row stays.
  ASSERT_THAT(SubmitBytes(store.get(), "b"), IsOk());
  EXPECT_TRUE(store->HasBundle(Sha256Hex("b")));
}

TEST(TrialStoreTest, TheOldestVerdictsAreDropped) {
  TrialStoreOptions options;
  options.most_trials = 3;
  const auto store = OpenStore("retained", options);
  for (const char* bundle : {"a", "b", "c", "d", "e"}) {
    ASSERT_THAT(SubmitBytes(store.get(), bundle), IsOk());
    ASSERT_THAT(DecideNext(store.get(), bundle), IsOk());
  }
  EXPECT_THAT(store->Find(MakeTrial("b").key),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(store->Find(MakeTrial("c").key)->result, "c");
  EXPECT_EQ(store->Counts()->decided, 3);
}

TEST(TrialStoreTest, HistoryIsTheNewestFirstWhateverTheClockSays) {
  // The clock jumps back by a day before each reading.
  int64_t now = 1800000000;
  TrialStoreOptions options;
  options.now_unix_seconds = [&now] { return now -= 86400; };
  const auto store = OpenStore("history", options);
  for (const char* bundle : {"a", "b", "c"}) {
    ASSERT_THAT(SubmitBytes(store.get(), bundle), IsOk());
  }
  const auto all = store->History("//a:b", 0, 2);
  ASSERT_THAT(all, IsOk());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].key, MakeTrial("c").key);
  EXPECT_EQ((*all)[1].key, MakeTrial("b").key);
  const auto older = store->History("", (*all)[1].sequence, 9);
  ASSERT_EQ(older->size(), 1u);
  EXPECT_EQ((*older)[0].key, MakeTrial("a").key);
  EXPECT_TRUE(store->History("//other", 0, 9)->empty());
  const auto deployments = store->Deployments(9);
  ASSERT_EQ(deployments->size(), 1u);
  EXPECT_EQ((*deployments)[0].deployment, "//a:b");
  EXPECT_EQ((*deployments)[0].trial_count, 3);
}

TEST(TrialStoreTest, ABackupIsAStore) {
  const auto store = OpenStore("original");
  ASSERT_THAT(SubmitBytes(store.get(), "a"), IsOk());
  ASSERT_THAT(DecideNext(store.get(), "verdict of a"), IsOk());
  ASSERT_THAT(SubmitBytes(store.get(), "b"), IsOk());
  ASSERT_THAT(store->BackUp(TestPath("backup")), IsOk());
  EXPECT_THAT(store->BackUp(TestPath("backup")),
              StatusIs(absl::StatusCode::kAlreadyExists));
  ASSERT_THAT(SubmitBytes(store.get(), "c"), IsOk());
  const auto copy = OpenStore("backup");
  EXPECT_EQ(copy->Find(MakeTrial("a").key)->result, "verdict of a");
  EXPECT_THAT(copy->Find(MakeTrial("c").key),
              StatusIs(absl::StatusCode::kNotFound));
  const auto claimed = copy->Claim();
  EXPECT_EQ(ReadTestFile(copy->PathOfBundle((*claimed)->bundle_sha256)), "b");
}

// Bundles are removed while others are submitted again.
TEST(TrialStoreTest, ThreadsLoseNothing) {
  TrialStoreOptions options;
  options.most_bundle_bytes = 40;
  const auto store = OpenStore("threads", options);
  std::atomic<int> decided_count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 25; ++i) {
        const std::string bundle = absl::StrCat("b", i % 7, "-", thread % 2);
        const absl::StatusOr<Submission> submitted =
            SubmitBytes(store.get(), bundle);
        if (!submitted.ok()) {
          EXPECT_THAT(
              submitted.status(),
              StatusIs(testing::AnyOf(absl::StatusCode::kUnavailable,
                                      absl::StatusCode::kResourceExhausted,
                                      absl::StatusCode::kNotFound)));
        }
        const auto claimed = store->Claim();
        ASSERT_THAT(claimed, IsOk());
        if (!claimed->has_value()) continue;
        EXPECT_TRUE(store->HasBundle((*claimed)->bundle_sha256));
        EXPECT_THAT(store->Decide((*claimed)->sequence, {0, "", "x"}), IsOk());
        ++decided_count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->Counts()->decided, decided_count);
  EXPECT_GE(decided_count, 7);
  EXPECT_LE(store->Counts()->bundle_bytes, 40);
}

}  // namespace
}  // namespace footprint
