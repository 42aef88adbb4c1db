#include "footprint/gates/server/submit_client.h"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/server/example_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

SubmitOptions MakeOptions(const ExampleServer& server) {
  SubmitOptions options;
  options.server = absl::StrCat("http://127.0.0.1:", server.port());
  options.token = server.token();
  return options;
}

TEST(SubmitClientTest, SendsWaitsAndTellsTheVerdict) {
  ExampleServer server("submit");
  SubmitOptions options = MakeOptions(server);
  std::vector<std::string> steps;
  options.report_step = [&](absl::string_view step) {
    steps.emplace_back(step);
    if (step == "running: measuring") server.GoOn();
  };
  std::vector<std::string> works;
  options.report_bytes = [&](const char* work, int64_t done, int64_t all) {
    EXPECT_LE(done, all);
    EXPECT_EQ(all, 6);
    works.emplace_back(work);
  };
  const std::string path = WriteTestFile("slow.bundle", "slow a");
  const absl::StatusOr<SubmittedVerdict> verdict = SubmitBundle(path, options);
  ASSERT_THAT(verdict, IsOk());
  EXPECT_EQ(verdict->exit_status, 0);
  EXPECT_FALSE(verdict->is_from_store);
  EXPECT_THAT(verdict->report,
              AllOf(HasSubstr("//models:example"), HasSubstr("ACCEPT")));
  EXPECT_THAT(works, testing::ElementsAre("hashing", "sending"));
  EXPECT_THAT(steps, AllOf(Contains("sending"), Contains("running: measuring"),
                           Contains("decided")));
  const absl::StatusOr<SubmittedVerdict> again = SubmitBundle(path, options);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->is_from_store);
  EXPECT_EQ(again->trial_id, verdict->trial_id);
}

TEST(SubmitClientTest, ARejectionIsTheExitStatusUnlessTheModeIsAnother) {
  const std::string path = WriteTestFile("reject.bundle", "reject a");
  for (const char* mode : {"enforce", "warn"}) {
    ApiOptions api;
    api.mode = *ParseServerMode(mode);
    const ExampleServer server(absl::StrCat("mode-", mode), {}, api);
    SubmitOptions options = MakeOptions(server);
    options.format = "json";
    const absl::StatusOr<SubmittedVerdict> verdict =
        SubmitBundle(path, options);
    ASSERT_THAT(verdict, IsOk());
    EXPECT_EQ(verdict->exit_status, std::string(mode) == "enforce" ? 1 : 0);
    EXPECT_THAT(verdict->report, HasSubstr("\"REJECT\""));
    EXPECT_THAT(verdict->summary, HasSubstr("REJECT"));
  }
}

TEST(SubmitClientTest, LargeBundlesArriveWhole) {
  const ExampleServer server("large");
  std::string bundle = "accept ";
  for (int i = 0; i < 500000; ++i) absl::StrAppend(&bundle, i, " ");
  const absl::StatusOr<SubmittedVerdict> verdict =
      SubmitBundle(WriteTestFile("large.bundle", bundle), MakeOptions(server));
  ASSERT_THAT(verdict, IsOk());
  EXPECT_EQ(verdict->exit_status, 0);
}

TEST(SubmitClientTest, EachErrorNamesTheNextStep) {
  const ExampleServer server("errors");
  const std::string path = WriteTestFile("errors.bundle", "accept a");
  SubmitOptions options = MakeOptions(server);
  EXPECT_THAT(SubmitBundle("/no/such.bundle", options),
              StatusIs(absl::StatusCode::kNotFound));
  options.token = "fpt_guess";
  EXPECT_THAT(SubmitBundle(path, options),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("FOOTPRINT_TOKEN")));
  options.server = "http://127.0.0.1:1";
  EXPECT_THAT(SubmitBundle(path, options),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("bazel run //gates:serve")));
  options.server = "no server";
  EXPECT_THAT(SubmitBundle(path, options),
              StatusIs(testing::AnyOf(absl::StatusCode::kInvalidArgument,
                                      absl::StatusCode::kUnavailable)));
}

TEST(SubmitClientTest, ATokenThatExpiredIsRenewedOnce) {
  const ExampleServer server("renewed");
  const std::string path = WriteTestFile("renewed.bundle", "accept a");
  SubmitOptions options = MakeOptions(server);
  options.token = "fpt_expired";
  int call_count = 0;
  options.renew_token = [&]() -> absl::StatusOr<std::string> {
    ++call_count;
    return server.token();
  };
  EXPECT_THAT(SubmitBundle(path, options), IsOk());
  EXPECT_EQ(call_count, 1);
  // Neither the same token nor another bad one is tried for ever.
  for (const char* token : {"fpt_expired", "fpt_other"}) {
    call_count = 0;
    options.renew_token = [&]() -> absl::StatusOr<std::string> {
      ++call_count;
      return token;
    };
    EXPECT_THAT(SubmitBundle(path, options),
                StatusIs(absl::StatusCode::kPermissionDenied));
    EXPECT_EQ(call_count, 1);
  }
  options.renew_token = [] { return absl::NotFoundError("no token"); };
  EXPECT_THAT(SubmitBundle(path, options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no token")));
}

TEST(SubmitClientTest, AnAddressIsCheckedBeforeTheLibraryThrows) {
  for (const char* server : {"http://127.0.0.1:7878", "http://host", "host:80",
                             "http://[::1]:7878", "https://host"}) {
    EXPECT_THAT(CheckServerAddress(server, /*has_tls=*/true), IsOk()) << server;
  }
  for (const char* server :
       {"ftp://host", "http://", "", "http://host:99999999999999999999",
        "http://host:x", "http://host/path", "http://host:80/",
        "HTTPS://host"}) {
    EXPECT_THAT(CheckServerAddress(server, /*has_tls=*/true),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("want http://HOST:PORT")))
        << server;
    SubmitOptions options;
    options.server = server;
    EXPECT_THAT(SubmitBundle("/no/such.bundle", options),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(CheckServerAddress("https://host", /*has_tls=*/false),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("this build has no TLS")));
  EXPECT_THAT(CheckServerAddress("http://host", /*has_tls=*/false), IsOk());
}

TEST(SubmitClientTest, ABundleThatIsTooLargeIsNotSent) {
  ApiOptions api;
  api.most_bundle_bytes = 100;
  const ExampleServer server("small", {}, api);
  SubmitOptions options = MakeOptions(server);
  EXPECT_THAT(AskMostBundleBytes(options), IsOkAndHolds(100));
  options.report_step = [](absl::string_view step) {
    FAIL() << "does something: " << step;
  };
  const std::string path = WriteTestFile("big.bundle", std::string(101, 'x'));
  EXPECT_THAT(SubmitBundle(path, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("big.bundle: has 101 B"),
                             HasSubstr("takes bundles of 100 B at most"))));
  // The server itself refuses what its client was told to send.
  options.report_step = {};
  options.most_bundle_bytes = 101;
  EXPECT_THAT(AskMostBundleBytes(options), IsOkAndHolds(101));
  EXPECT_THAT(SubmitBundle(path, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("at most 100 bytes")));
  options.server = "http://127.0.0.1:1";
  options.most_bundle_bytes = 0;
  EXPECT_THAT(
      AskMostBundleBytes(options),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no server answers")));
}

TEST(SubmitClientTest, WaitsNoLongerThanItMay) {
  ExampleServer server("late");
  SubmitOptions options = MakeOptions(server);
  options.wait_seconds = 0;
  EXPECT_THAT(
      SubmitBundle(WriteTestFile("late.bundle", "slow a"), options),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("--wait")));
}

TEST(SubmitClientTest, TwoSubmissionsOfOneBundleAtOnceAreOne) {
  const ExampleServer server("twice");
  const std::string path =
      WriteTestFile("twice.bundle", "accept " + std::string(3000000, 'x'));
  std::vector<std::thread> threads;
  std::vector<std::string> ids(4);
  for (std::string& id : ids) {
    threads.emplace_back([&] {
      const absl::StatusOr<SubmittedVerdict> verdict =
          SubmitBundle(path, MakeOptions(server));
      EXPECT_THAT(verdict, IsOk());
      if (verdict.ok()) id = verdict->trial_id;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids, std::vector<std::string>(4, ids[0]));
}

}  // namespace
}  // namespace footprint
