#include "footprint/gates/engine/engine_trials.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/trial_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kEnvironment[] = "Linux 1";

// Lines that the threads of a queue report.
class Lines {
 public:
  void Add(absl::string_view line) {
    MutexLock lock(&mutex_);
    lines_.emplace_back(line);
  }
  std::vector<std::string> Get() {
    MutexLock lock(&mutex_);
    return lines_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

class EngineTrialsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        TestPath(testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_ + "/work");
    std::filesystem::create_directories(folder_ + "/state");
    key_path_ = WriteTestFile("key", "the key of all engines\n");
    other_key_path_ = WriteTestFile("other_key", "the key of other engines\n");
  }

  // Each attempt has removed its folder.
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/work"));
  }

  // Returns options whose command runs a shell script. In the script `try` and
  // `forge` answer as fake_try does, with the right and with another key, and
  // `attempt` is the number of the attempt, from 1.
  EngineOptions Engine(const std::string& script) {
    const std::string program =
        std::filesystem::absolute("gates/engine/fake_try").string();
    const std::string path = folder_ + "/engine.sh";
    const auto answer = [&](const std::string& key_path) {
      return absl::StrCat("() { ", program,
                          " \"$bundle\" \"$order\" \"$result\" ", key_path,
                          " \"${environment:-", kEnvironment, "}\"; }\n");
    };
    WriteTestFile(
        absl::StrCat(std::filesystem::path(folder_).filename().string(),
                     "/engine.sh"),
        absl::StrCat("#!/bin/sh\nbundle=$1 order=$2 result=$3 trial=$4\nstate=",
                     folder_, "/state\nkey=${trial%-*} attempt=1\n",
                     "while ! mkdir \"$state/$key.$attempt\" 2>/dev/null; do\n",
                     "  attempt=$((attempt + 1))\ndone\ntry", answer(key_path_),
                     "forge", answer(other_key_path_), script, "\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    const absl::StatusOr<EngineCommand> command = EngineCommand::Parse(
        absl::StrCat("'", path, "' {bundle} {order} {result} {trial} {limit}"),
        "/");
    EXPECT_THAT(command, IsOk());
    EngineOptions options;
    if (command.ok()) options.command = *command;
    options.key = "the key of all engines";
    options.folder = folder_ + "/work";
    options.environment = kEnvironment;
    options.make_request = [](const TrialToRun&) { return TrialRequest(); };
    options.first_pause = absl::Milliseconds(1);
    options.report = [this](absl::string_view line) { reports_.Add(line); };
    return options;
  }

  // Runs the trial of a bundle with this content, as a queue does.
  absl::StatusOr<StoredResult> Run(const EngineOptions& options,
                                   const std::string& bundle) {
    TrialToRun trial;
    trial.trial = Sha256Hex(absl::StrCat("key of ", bundle));
    trial.bundle_sha256 = Sha256Hex(bundle);
    trial.bundle_path = absl::StrCat(folder_, "/bundle");
    WriteTestFile(
        absl::StrCat(std::filesystem::path(folder_).filename().string(),
                     "/bundle"),
        bundle);
    trial.report_stage = [this](absl::string_view stage) {
      stages_.emplace_back(stage);
    };
    trial.is_stopped = [this] {
      return is_stopped_ || std::filesystem::exists(folder_ + "/state/stop");
    };
    return RunByEngine(options)(trial);
  }

  // Expects that the first attempt fails as `first` says and that the second
  // gives the verdict.
  void ExpectSecondAttempt(const std::string& first, const char* failure) {
    const absl::StatusOr<StoredResult> result =
        Run(Engine(absl::StrCat("if [ $attempt = 2 ]; then try; exit; fi\n",
                                first)),
            "reject it");
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->verdict().decision(), REJECT);
    EXPECT_THAT(reports_.Get(), ElementsAre(HasSubstr(failure)));
  }

  std::string folder_;
  std::string key_path_;
  std::string other_key_path_;
  Lines reports_;
  std::vector<std::string> stages_;
  bool is_stopped_ = false;
};

TEST_F(EngineTrialsTest, TheVerdictIsThatOfTheOtherMachine) {
  const absl::StatusOr<StoredResult> result = Run(Engine("try"), "accept it");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->verdict().decision(), ACCEPT);
  EXPECT_EQ(result->deployment(), "accept it");
  EXPECT_THAT(result->remarks(), ElementsAre("ran on fake, by the engine"));
  EXPECT_THAT(stages_,
              ElementsAre("given to the engine, attempt 1 of at most 3"));
  EXPECT_THAT(reports_.Get(), IsEmpty());
}

TEST_F(EngineTrialsTest, OnlyTheResultCountsAndNotTheStatus) {
  EXPECT_THAT(Run(Engine("try; exit 1"), "accept it"), IsOk());
  EXPECT_THAT(Run(Engine("try; kill -s KILL $$"), "accept them"), IsOk());
  EXPECT_THAT(reports_.Get(), IsEmpty());
}

TEST_F(EngineTrialsTest, ASlowEngineIsAwaited) {
  EXPECT_THAT(Run(Engine("sleep 1; try"), "accept it"), IsOk());
  EXPECT_THAT(reports_.Get(), IsEmpty());
}

TEST_F(EngineTrialsTest, AnEngineThatAnswersNothingIsAskedAgain) {
  ExpectSecondAttempt("exit 0", "it must wait until the trial has ended");
}

TEST_F(EngineTrialsTest, AnEngineThatDiesIsAskedAgain) {
  ExpectSecondAttempt(
      "echo 'error: node failed' >&2; exit 1",
      "the command ended with status 1, and there is no result; "
      "its last words: error: node failed");
}

TEST_F(EngineTrialsTest, AnEngineThatIsKilledIsAskedAgain) {
  ExpectSecondAttempt("kill -s KILL $$", "was killed by signal 9");
}

TEST_F(EngineTrialsTest, AForgedResultIsRefused) {
  ExpectSecondAttempt("forge", "the result's signature is wrong");
}

TEST_F(EngineTrialsTest, ADamagedResultIsRefused) {
  ExpectSecondAttempt(
      "try; head -c 60 \"$result\" > \"$result.part\"; "
      "mv \"$result.part\" \"$result\"",
      "its result is refused: ");
}

TEST_F(EngineTrialsTest, ADoubledResultIsRefused) {
  ExpectSecondAttempt(
      "try; cat \"$result\" \"$result\" > \"$result.twice\"; "
      "mv \"$result.twice\" \"$result\"",
      "its result is refused: ");
}

TEST_F(EngineTrialsTest, ALostResultIsAnotherAttempt) {
  ExpectSecondAttempt("try; rm \"$result\"", "there is no result");
}

TEST_F(EngineTrialsTest, ATruncatedBundleIsNotTheBundle) {
  ExpectSecondAttempt(
      "head -c 3 \"$bundle\" > \"$bundle.part\"; bundle=$bundle.part; try",
      "another bundle was tried");
}

TEST_F(EngineTrialsTest, AChangedOrderIsNotTheOrder) {
  ExpectSecondAttempt(
      "head -c 20 \"$order\" > \"$order.part\"; "
      "order=$order.part; try",
      "there is no result; its last words: fake_try: ");
}

// A scheduler that lost a node may run a job twice.
TEST_F(EngineTrialsTest, ATrialThatWasTriedTwiceHasOneVerdict) {
  EXPECT_THAT(Run(Engine("try; try"), "accept it"), IsOk());
  EXPECT_THAT(reports_.Get(), IsEmpty());
}

TEST_F(EngineTrialsTest, AnotherTrialsResultIsRefused) {
  const std::string script =
      "if [ -e \"$state/kept\" ] && [ $attempt = 1 ]; then\n"
      "  cp \"$state/kept\" \"$result\"\n"
      "else try; cp \"$result\" \"$state/kept\"; fi";
  EXPECT_THAT(Run(Engine(script), "accept it"), IsOk());
  const absl::StatusOr<StoredResult> result = Run(Engine(script), "reject it");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->verdict().decision(), REJECT);
  EXPECT_THAT(reports_.Get(), ElementsAre(HasSubstr("of another trial")));
}

// The same trial's first attempt, which the server has given up.
TEST_F(EngineTrialsTest, TheResultOfAnEarlierAttemptIsRefused) {
  const absl::StatusOr<StoredResult> result =
      Run(Engine("case $attempt in\n1) try; mv \"$result\" \"$state/late\";;\n"
                 "2) cp \"$state/late\" \"$result\";;\n*) try;; esac"),
          "reject it");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->verdict().decision(), REJECT);
  EXPECT_THAT(reports_.Get(), ElementsAre(HasSubstr("there is no result"),
                                          HasSubstr("of another trial")));
}

TEST_F(EngineTrialsTest, AnEngineThatHangsIsKilledAndAskedAgain) {
  EngineOptions options =
      Engine("if [ $attempt = 2 ]; then try; else sleep 1000; fi");
  // A trial of a bundle that cannot be read needs 900 s.
  options.most_wait = -absl::Seconds(898);
  EXPECT_THAT(Run(options, "accept it"), IsOk());
  EXPECT_THAT(reports_.Get(),
              ElementsAre(HasSubstr("did not end in 2s and was killed")));
}

TEST_F(EngineTrialsTest, AnEngineThatAlwaysFailsIsGivenUp) {
  EXPECT_THAT(Run(Engine("echo no node; exit 7"), "accept it"),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("the engine failed in 3 attempts"),
                             HasSubstr("status 7"), HasSubstr("no node"),
                             HasSubstr("--again"))));
  EXPECT_THAT(reports_.Get(), SizeIs(3));
}

TEST_F(EngineTrialsTest, AProgramThatIsGoneIsAFailureOfTheEngine) {
  const EngineOptions options = Engine("try");
  std::filesystem::remove(folder_ + "/engine.sh");
  EXPECT_THAT(Run(options, "accept it"),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("engine.sh: cannot be started")));
}

TEST_F(EngineTrialsTest, AHostThatCannotTryItIsNotAskedAgain) {
  EXPECT_THAT(
      Run(Engine("try"), "broken"),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("on fake: no cgroup")));
  EXPECT_THAT(reports_.Get(), IsEmpty());
}

// The queue tries again, as it does for this host.
TEST_F(EngineTrialsTest, AHostWithoutRoomSaysNothingAboutTheBundle) {
  EXPECT_THAT(Run(Engine("try"), "full"),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("no space left")));
}

TEST_F(EngineTrialsTest, AHostOfAnotherKindIsNamed) {
  const absl::StatusOr<StoredResult> result =
      Run(Engine("environment='Linux 2'; try"), "accept it");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->verdict().decision(), ENVIRONMENT_MISMATCH);
  EXPECT_EQ(result->deployment(), "accept it");
  EXPECT_THAT(result->verdict().problems(0).message(),
              AllOf(HasSubstr("Linux 1"), HasSubstr("Linux 2"),
                    HasSubstr("--engine_host")));
}

TEST_F(EngineTrialsTest, AStopOfTheServerEndsTheCommand) {
  EngineOptions options = Engine(": > $state/stop; sleep 1000");
  EXPECT_THAT(Run(options, "accept it"),
              StatusIs(absl::StatusCode::kCancelled));
  std::filesystem::remove(folder_ + "/state/stop");
  // The server may also stop between two attempts.
  options = Engine("exit 1");
  options.first_pause = absl::Minutes(5);
  options.report = [this](absl::string_view) { is_stopped_ = true; };
  EXPECT_THAT(Run(options, "accept it"),
              StatusIs(absl::StatusCode::kCancelled));
}

// The disk that all machines see may come back.
TEST_F(EngineTrialsTest, AFolderThatIsGoneIsAwaited) {
  EngineOptions options = Engine("try");
  options.folder = folder_ + "/gone";
  options.report = [this](absl::string_view line) {
    reports_.Add(line);
    if (reports_.Get().size() == 4) {
      std::filesystem::create_directory(folder_ + "/gone");
    }
  };
  EXPECT_THAT(Run(options, "accept it"), IsOk());
  EXPECT_THAT(reports_.Get(), SizeIs(4));
  EXPECT_THAT(reports_.Get()[0],
              AllOf(HasSubstr("waiting for the engine's folder: "),
                    HasSubstr("/gone/")));
  // A stop of the server ends the wait.
  options.folder = folder_ + "/none";
  options.report = [this](absl::string_view) { is_stopped_ = true; };
  EXPECT_THAT(Run(options, "accept it"),
              StatusIs(absl::StatusCode::kCancelled));
}

// The engine fails in each way at random. A hash of the seed, the trial and the
// attempt decides, so that a failure can be repeated.
class RandomEngineTest : public EngineTrialsTest {
 protected:
  static std::string RandomScript(int seed) {
    return absl::StrCat("number=$(echo ", seed, " \"$key\" $attempt | cksum)\n",
                        "case $((${number%% *} % 12)) in\n"
                        "0) exit 0;;\n"
                        "1) exit 1;;\n"
                        "2) kill -s KILL $$;;\n"
                        "3) forge;;\n"
                        "4) try; rm \"$result\";;\n"
                        "5) cp \"$state/kept\" \"$result\";;\n"
                        "6) try; : > \"$result\";;\n"
                        "7) try; try;;\n"
                        "8) try; exit 1;;\n"
                        "*) try; cp \"$result\" \"$state/kept.$key\"\n"
                        "   mv \"$state/kept.$key\" \"$state/kept\";;\n"
                        "esac");
  }

  // Runs trials. Returns their decisions by bundle.
  std::map<std::string, int> RunAll(const EngineOptions& options,
                                    int trial_count) {
    const std::unique_ptr<TrialStore> store =
        *TrialStore::Open(folder_ + "/store", {});
    TrialQueue queue(store.get(), RunByEngine(options), {/*thread_count=*/4});
    queue.Start();
    for (int i = 0; i < trial_count; ++i) Submit(i, store.get(), &queue);
    while (store->Counts()->decided < trial_count) usleep(1000);
    queue.Stop();
    int64_t count = 0;
    for (const int64_t each : queue.Decided()) count += each;
    EXPECT_EQ(count, trial_count);
    std::map<std::string, int> decisions;
    std::set<int64_t> orders;
    for (int i = 0; i < trial_count; ++i) {
      const absl::StatusOr<StoredTrial> trial =
          store->Find(Sha256Hex(Bundle(i)));
      EXPECT_THAT(trial, IsOk());
      orders.insert(trial->decided_order);
      decisions[Bundle(i)] = trial->decision;
      StoredResult result;
      EXPECT_TRUE(result.ParseFromString(trial->result));
      if (trial->decision != INCONCLUSIVE) {
        EXPECT_EQ(result.deployment(), Bundle(i));
      }
    }
    EXPECT_THAT(orders, SizeIs(trial_count));
    return decisions;
  }

  static std::string Bundle(int number) {
    return absl::StrCat(number % 3 == 0 ? "reject " : "accept ", number);
  }
  static int Expected(const std::string& bundle) {
    return absl::StartsWith(bundle, "reject") ? REJECT : ACCEPT;
  }

 private:
  static void Submit(int number, TrialStore* store, TrialQueue* queue) {
    const std::string bundle = Bundle(number);
    NewTrial trial;
    trial.bundle_sha256 = Sha256Hex(bundle);
    trial.key = trial.bundle_sha256;
    absl::StatusOr<BundleUpload> upload = store->StartUpload(
        trial.bundle_sha256, static_cast<int64_t>(bundle.size()));
    ASSERT_THAT(upload, IsOk());
    ASSERT_THAT(upload->Append(bundle), IsOk());
    ASSERT_THAT(upload->Finish(), IsOk());
    ASSERT_THAT(store->Submit(trial), IsOk());
    queue->NoticeSubmission();
  }
};

TEST_F(RandomEngineTest, EachTrialGetsItsVerdictOnce) {
  EngineOptions options = Engine(RandomScript(/*seed=*/1));
  options.most_attempts = 1000;
  options.first_pause = absl::ZeroDuration();
  for (const auto& [bundle, decision] : RunAll(options, 200)) {
    EXPECT_EQ(decision, Expected(bundle)) << bundle;
  }
  // Seven of twelve ways are failures.
  EXPECT_GT(reports_.Get().size(), 100u);
}

TEST_F(RandomEngineTest, WithFewAttemptsNoVerdictIsWrong) {
  EngineOptions options = Engine(RandomScript(/*seed=*/2));
  options.most_attempts = 2;
  int given_up_count = 0;
  for (const auto& [bundle, decision] : RunAll(options, 60)) {
    if (decision == INCONCLUSIVE) {
      ++given_up_count;
    } else {
      EXPECT_EQ(decision, Expected(bundle)) << bundle;
    }
  }
  // Both attempts of a third of the trials are expected to fail.
  EXPECT_GT(given_up_count, 5);
  EXPECT_LT(given_up_count, 40);
}

}  // namespace
}  // namespace footprint
