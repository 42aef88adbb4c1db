#include "footprint/gates/trials/trial_limits.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/images/bundle_or_image.h"
#include "footprint/gates/sandbox/sandbox.h"
#include "footprint/gates/trials/trial.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kRoomBytes = 8192 * kMiB;

class TrialLimitsTest : public testing::Test {
 protected:
  TrialLimits Compute() const {
    const absl::StatusOr<TrialLimits> limits =
        ComputeTrialLimits(request_, manifest_, kRoomBytes);
    EXPECT_THAT(limits, IsOk());
    return limits.value_or(TrialLimits());
  }

  SandboxRun Run(int64_t limit_bytes) const {
    BundleOrImage bundle;
    bundle.manifest = manifest_;
    bundle.bundle_folder = "/bundle_folder";
    return MakeSandboxRun(request_, bundle, Compute(), limit_bytes);
  }

  void AddDevice(const std::string& name, int64_t budget_bytes) {
    DeviceBudget* const device = request_.add_devices();
    device->set_device(name);
    device->set_budget_bytes(budget_bytes);
  }

  TrialRequest request_;
  BundleManifest manifest_;
};

TEST_F(TrialLimitsTest, DefaultsHaveNoBudgetAndAMinute) {
  const TrialLimits limits = Compute();
  EXPECT_EQ(limits.process_limit, 256);
  EXPECT_EQ(limits.budget_bytes, 0);
  EXPECT_EQ(limits.measuring_limit_bytes, 4096 * kMiB);
  EXPECT_EQ(limits.time_limit_seconds, 60);
  EXPECT_EQ(limits.room_bytes, kRoomBytes);
}

TEST_F(TrialLimitsTest, TheRequestsBudgetPrevailsEvenOverAnUnknownDevice) {
  manifest_.set_budget_bytes(10 * kMiB);
  manifest_.set_device("unknown");
  request_.set_budget_bytes(20 * kMiB);
  EXPECT_EQ(Compute().budget_bytes, 20 * kMiB);
}

TEST_F(TrialLimitsTest, TheSmallerOfDeviceAndManifestIsTheBudget) {
  AddDevice("watch", 64 * kMiB);
  manifest_.set_device("watch");
  EXPECT_EQ(Compute().budget_bytes, 64 * kMiB);
  manifest_.set_budget_bytes(10 * kMiB);
  EXPECT_EQ(Compute().budget_bytes, 10 * kMiB);
  manifest_.set_budget_bytes(100 * kMiB);
  EXPECT_EQ(Compute().budget_bytes, 64 * kMiB);
}

TEST_F(TrialLimitsTest, TheSubmittersLimitHoldsForEveryBudget) {
  request_.set_most_budget_bytes(100 * kMiB);
  EXPECT_EQ(Compute().budget_bytes, 100 * kMiB) << "without any budget";
  manifest_.set_budget_bytes(100 * kMiB);
  EXPECT_EQ(Compute().budget_bytes, 100 * kMiB);
  manifest_.set_budget_bytes(10 * kMiB);
  EXPECT_EQ(Compute().budget_bytes, 10 * kMiB);
  manifest_.set_budget_bytes(100 * kMiB + 1);
  EXPECT_THAT(ComputeTrialLimits(request_, manifest_, kRoomBytes),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the submitter's token allows at most 100")));
  // The operator's budget is the same for all, and nobody asked for it.
  request_.set_budget_bytes(200 * kMiB);
  EXPECT_EQ(Compute().budget_bytes, 100 * kMiB);
}

TEST_F(TrialLimitsTest, TheSubmittersTimeIsTheLongest) {
  request_.set_most_time_limit_seconds(20);
  EXPECT_EQ(Compute().time_limit_seconds, 20);
  manifest_.set_time_limit_seconds(50);
  EXPECT_EQ(Compute().time_limit_seconds, 20);
  manifest_.set_time_limit_seconds(5);
  EXPECT_EQ(Compute().time_limit_seconds, 5);
}

TEST_F(TrialLimitsTest, AnUnknownDeviceIsNamedWithThoseThatAreKnown) {
  AddDevice("watch", 64 * kMiB);
  AddDevice("phone", 512 * kMiB);
  manifest_.set_device("wotch");
  const absl::Status status =
      ComputeTrialLimits(request_, manifest_, kRoomBytes).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(status.message(), HasSubstr("'wotch'"));
  EXPECT_THAT(status.message(), HasSubstr("watch, phone"));
  request_.clear_devices();
  EXPECT_THAT(
      ComputeTrialLimits(request_, manifest_, kRoomBytes).status().message(),
      HasSubstr("no fleet file is given here"));
}

TEST_F(TrialLimitsTest, MeasuringHasRoomAboveTheBudgetButNotAboveTheHosts) {
  request_.set_budget_bytes(100 * kMiB);
  EXPECT_EQ(Compute().measuring_limit_bytes, 264 * kMiB);
  request_.set_budget_bytes(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Compute().measuring_limit_bytes, kRoomBytes);
  request_.set_budget_bytes(1);
  EXPECT_EQ(Compute().measuring_limit_bytes, 64 * kMiB + 2);
  request_.set_measuring_limit_bytes(300 * kMiB);
  EXPECT_EQ(Compute().measuring_limit_bytes, 300 * kMiB);
}

TEST_F(TrialLimitsTest, TheManifestMayOnlyShortenTheTime) {
  request_.set_time_limit_seconds(30);
  manifest_.set_time_limit_seconds(40);
  EXPECT_EQ(Compute().time_limit_seconds, 30);
  manifest_.set_time_limit_seconds(20);
  EXPECT_EQ(Compute().time_limit_seconds, 20);
}

TEST_F(TrialLimitsTest, RunsOfEachKindHaveTheirCommand) {
  manifest_.set_entry("bin/program");
  manifest_.add_arguments("--fast");
  SandboxRun run = Run(kMiB);
  EXPECT_EQ(run.bundle_folder, "/bundle_folder");
  EXPECT_EQ(run.program, "/bundle/bin/program");
  EXPECT_THAT(run.arguments, ElementsAre("bin/program", "--fast"));

  manifest_.set_kind(BundleManifest::PYTHON_SCRIPT);
  run = Run(kMiB);
  EXPECT_EQ(run.program, "/usr/bin/python3");
  EXPECT_THAT(run.arguments, ElementsAre("python3", "bin/program", "--fast"));

  manifest_.set_kind(BundleManifest::LOWMEM_CHECKPOINT);
  request_.set_lowmem_program("/host/lowmem_run");
  run = Run(kMiB);
  EXPECT_EQ(run.program, "/runner");
  EXPECT_EQ(run.runner, "/host/lowmem_run");
  EXPECT_THAT(run.arguments, ElementsAre("lowmem_run", "bin", "--fast"));
  manifest_.set_entry("model.safetensors");
  run = Run(kMiB);
  EXPECT_THAT(run.arguments, ElementsAre("lowmem_run", ".", "--fast"));
}

TEST_F(TrialLimitsTest, AnImageIsRunAsItShips) {
  manifest_.set_kind(BundleManifest::NATIVE_PROGRAM);
  manifest_.set_entry("serve");
  manifest_.add_arguments("--fast");
  BundleOrImage image;
  image.manifest = manifest_;
  image.image_folder = "/work/image";
  image.working_folder = "/srv";
  image.environment = {"LANG=de_DE.UTF-8", "PATH=/opt/venv/bin:/bin", "A=1",
                       "A=2", "FOOTPRINT_MEMPROF_FOLDER=/tmp"};
  SandboxRun run = MakeSandboxRun(request_, image, Compute(), kMiB);
  EXPECT_EQ(run.image_folder, "/work/image");
  EXPECT_EQ(run.bundle_folder, "");
  EXPECT_EQ(run.working_folder, "/srv");
  EXPECT_EQ(run.program, "serve");
  EXPECT_THAT(run.arguments, ElementsAre("serve", "--fast"));
  EXPECT_THAT(
      run.environment,
      ElementsAre("PATH=/opt/venv/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp",
                  "LANG=de_DE.UTF-8", "TZ=UTC", "PYTHONHASHSEED=0",
                  "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "A=2"));
  image.manifest.set_kind(BundleManifest::PYTHON_SCRIPT);
  run = MakeSandboxRun(request_, image, Compute(), kMiB);
  EXPECT_EQ(run.program, "python3");
  EXPECT_THAT(run.arguments, ElementsAre("python3", "serve", "--fast"));
}

TEST_F(TrialLimitsTest, ALargerArchiveMayUnpackToMoreUnlessTheRequestSaysSo) {
  request_.set_most_archive_bytes(8192 * kMiB);
  EXPECT_EQ(ReadBundleLimits(request_).archive_bytes, 8192 * kMiB);
  EXPECT_EQ(ReadBundleLimits(request_).unpacked_bytes, 8 * 4096 * kMiB);
  request_.set_most_unpacked_bytes(kMiB);
  EXPECT_EQ(ReadBundleLimits(request_).unpacked_bytes, kMiB);
}

TEST_F(TrialLimitsTest, RunsKeepToTheRoomAndToTheRequest) {
  SandboxRun run = Run(1);
  EXPECT_EQ(run.limit_bytes, kMiB);
  EXPECT_EQ(run.scratch_bytes, 64 * kMiB);
  EXPECT_EQ(run.process_limit, 256);
  request_.set_scratch_bytes(5 * kMiB);
  request_.set_process_limit(7);
  EXPECT_EQ(run.cpu_weight, 0);
  request_.set_cpu_weight(400);
  run = Run(2 * kRoomBytes);
  EXPECT_EQ(run.limit_bytes, kRoomBytes);
  EXPECT_EQ(run.scratch_bytes, 5 * kMiB);
  EXPECT_EQ(run.process_limit, 7);
  EXPECT_EQ(run.cpu_weight, 400);
  EXPECT_EQ(run.time_limit_seconds, 60);
}

}  // namespace
}  // namespace footprint
