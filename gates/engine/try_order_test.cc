#include "footprint/gates/engine/try_order.h"

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/sandbox/host.h"
#include "footprint/gates/sandbox/missing_mechanism.h"
#include "footprint/gates/trials/run_trial.h"
#include "footprint/gates/trials/trial_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

class TryOrderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(TestPath("folder"));
    std::filesystem::create_directories(TestPath("work"));
    WriteTestFile("folder/run.sh", "#!/bin/sh\nexit 0\n");
    std::filesystem::permissions(TestPath("folder/run.sh"),
                                 std::filesystem::perms::owner_all);
    WriteTestFile("folder/bundle.textproto",
                  "schema_version: 1 kind: NATIVE_PROGRAM entry: \"run.sh\" "
                  "label: \"//test:run\"");
    local_.bundle_path = TestPath("made.bundle");
    local_.work_folder = TestPath("work");
    ASSERT_THAT(MakeBundle(TestPath("folder"), local_.bundle_path), IsOk());
    ordered_.sha256 = Sha256Hex("the order");
    ordered_.order.set_attempt("one");
    ordered_.order.set_judge_version(kJudgeVersion);
    ordered_.order.set_bundle_sha256(
        Sha256Hex(ReadTestFile(local_.bundle_path)));
    TrialRequest* const request = ordered_.order.mutable_request();
    request->set_budget_bytes(64 << 20);
    request->set_is_unexplained(true);
  }

  OrderedTrial ordered_;
  LocalTrial local_;
};

TEST_F(TryOrderTest, TheReplyHasTheVerdictOfTheSameTrialHere) {
  SKIP_WITHOUT_SANDBOX();
  const TrialReply reply = TryOrder(ordered_, local_);
  EXPECT_EQ(reply.attempt(), "one");
  EXPECT_EQ(reply.order_sha256(), ordered_.sha256);
  EXPECT_EQ(reply.bundle_sha256(), ordered_.order.bundle_sha256());
  EXPECT_EQ(reply.environment(), HostText(DescribeHost()));
  EXPECT_NE(reply.host_name(), "");
  ASSERT_EQ(reply.error_code(), 0) << reply.error_message();
  EXPECT_EQ(reply.result().deployment(), "//test:run");
  EXPECT_EQ(reply.result().verdict().decision(), ACCEPT);
  ordered_.order.mutable_request()->set_budget_bytes(1);
  EXPECT_EQ(TryOrder(ordered_, local_).result().verdict().decision(), REJECT);
  EXPECT_TRUE(std::filesystem::is_empty(local_.work_folder));
}

// The machine does not have the server's threshold files.
TEST_F(TryOrderTest, ThresholdsArriveAsTexts) {
  SKIP_WITHOUT_SANDBOX();
  TrialRequest* const request = ordered_.order.mutable_request();
  request->add_threshold_paths("/no/such.textproto");
  EXPECT_EQ(TryOrder(ordered_, local_).error_code(),
            static_cast<int>(absl::StatusCode::kNotFound));
  request->add_threshold_texts(
      "threshold { selector { label: \"//test:run\" } "
      "metric: PEAK_RESIDENT_BYTES max_bytes: 1 "
      "owner: \"test\" reason: \"nothing fits\" }");
  const TrialReply reply = TryOrder(ordered_, local_);
  ASSERT_EQ(reply.error_code(), 0) << reply.error_message();
  EXPECT_NE(reply.result().verdict().decision(), ACCEPT);
}

TEST_F(TryOrderTest, AnotherBundleIsNotTried) {
  WriteTestFile("made.bundle", "other bytes");
  const TrialReply reply = TryOrder(ordered_, local_);
  EXPECT_EQ(reply.error_code(), static_cast<int>(absl::StatusCode::kDataLoss));
  EXPECT_EQ(reply.bundle_sha256(), Sha256Hex("other bytes"));
  EXPECT_FALSE(reply.has_result());
  local_.bundle_path = TestPath("none");
  EXPECT_THAT(TryOrder(ordered_, local_).error_message(), HasSubstr("none"));
}

// Somebody who can write to the folder, but does not have the key.
TEST_F(TryOrderTest, ABundleThatIsExchangedAfterItsHashIsNotTried) {
  SKIP_WITHOUT_SANDBOX();
  WriteTestFile("folder/bundle.textproto",
                "schema_version: 1 kind: NATIVE_PROGRAM entry: \"run.sh\" "
                "label: \"//test:exchanged\"");
  const std::string other = TestPath("other.bundle");
  ASSERT_THAT(MakeBundle(TestPath("folder"), other), IsOk());
  const std::string ordered = TestPath("ordered.bundle");
  std::filesystem::rename(local_.bundle_path, ordered);
  local_.bundle_path = TestPath("link.bundle");
  const std::string next = TestPath("next.bundle");
  std::filesystem::remove(local_.bundle_path);
  std::filesystem::create_symlink(ordered, local_.bundle_path);
  std::atomic<bool> is_over = false;
  std::thread exchanges([&] {
    for (int i = 0; !is_over; ++i) {
      std::filesystem::create_symlink(i % 2 == 0 ? other : ordered, next);
      std::filesystem::rename(next, local_.bundle_path);
    }
  });
  int tried_count = 0;
  for (int i = 0; i < 1000 && tried_count < 20; ++i) {
    const TrialReply reply = TryOrder(ordered_, local_);
    if (!reply.has_result()) continue;
    ++tried_count;
    EXPECT_EQ(reply.result().deployment(), "//test:run");
  }
  is_over = true;
  exchanges.join();
  EXPECT_EQ(tried_count, 20);
}

TEST_F(TryOrderTest, AnotherJudgeIsNotAsked) {
  ordered_.order.set_judge_version(kJudgeVersion + 1);
  const TrialReply reply = TryOrder(ordered_, local_);
  EXPECT_THAT(reply.error_message(), HasSubstr("install the same release"));
}

}  // namespace
}  // namespace footprint
