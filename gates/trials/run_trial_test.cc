#include "footprint/gates/trials/run_trial.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/sandbox/missing_mechanism.h"
#include "footprint/gates/trials/memory_admission.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

class RunTrialTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_SANDBOX();
    static int count = 0;
    name_ = absl::StrCat("trial", ++count);
    std::filesystem::create_directories(TestPath(name_) + "/bundle");
    std::filesystem::create_directories(TestPath(name_) + "/work");
  }

  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_TRUE(std::filesystem::is_empty(Path("work")));
  }

  std::string Path(const std::string& name) const {
    return absl::StrCat(TestPath(name_), "/", name);
  }

  // Makes a bundle of the sandbox's test program.
  TrialRequest Native(const std::string& test_case, int64_t bytes) const {
    std::filesystem::copy_file(
        "gates/sandbox/sandbox_test_program", Path("bundle/program"),
        std::filesystem::copy_options::overwrite_existing);
    return Request(absl::StrCat(
        "schema_version: 1 kind: NATIVE_PROGRAM entry: \"program\" arguments: "
        "\"",
        test_case, "\" arguments: \"", bytes, "\""));
  }

  TrialRequest Python(const std::string& script) const {
    WriteTestFile(name_ + "/bundle/main.py", script);
    return Request(
        "schema_version: 1 kind: PYTHON_SCRIPT entry: \"main.py\" label: "
        "\"//test:main\"");
  }

  TrialRequest Request(const std::string& manifest) const {
    WriteTestFile(name_ + "/bundle/bundle.textproto", manifest);
    TrialRequest request;
    request.set_bundle_path(Path("bundle"));
    request.set_work_folder(Path("work"));
    request.set_budget_bytes(32 * kMiB);
    request.set_time_limit_seconds(20);
    return request;
  }

  static TrialResult Try(const TrialRequest& request) {
    const absl::StatusOr<TrialResult> result = RunTrial(request);
    EXPECT_THAT(result, IsOk());
    return result.ok() ? *result : TrialResult();
  }

  std::string name_;
};

TEST_F(RunTrialTest, FitsItsBudget) {
  const TrialResult result = Try(Native("hold_malloc", 16 * kMiB));
  EXPECT_EQ(result.verdict().decision(), ACCEPT) << result.reason();
  EXPECT_EQ(result.verdict().decision(), ACCEPT);
  ASSERT_EQ(result.runs_size(), 3);
  EXPECT_EQ(result.runs(1).purpose(), TrialRun::PROVE);
  EXPECT_EQ(result.runs(1).limit_bytes(), 32 * kMiB);
  EXPECT_GE(result.whole_process_peak_bytes(), 16 * kMiB);
  EXPECT_LT(result.whole_process_peak_bytes(), 20 * kMiB);
  // The profiler counts exact bytes: one block and a little more.
  EXPECT_GE(result.heap_peak_bytes(), 16 * kMiB);
  EXPECT_LT(result.heap_peak_bytes(), 17 * kMiB);
}

TEST_F(RunTrialTest, OneMebibyteTooMuchIsRejected) {
  TrialRequest request = Native("hold_malloc", 16 * kMiB);
  const TrialResult first = Try(request);
  request.set_budget_bytes(first.whole_process_peak_bytes() - kMiB);
  const TrialResult second = Try(request);
  EXPECT_EQ(second.verdict().decision(), REJECT);
  EXPECT_EQ(second.cause(), PEAK_ABOVE_BUDGET) << second.reason();
  EXPECT_EQ(second.verdict().decision(), REJECT);
  EXPECT_NEAR(static_cast<double>(second.excess_bytes()), kMiB, 0.6 * kMiB);
}

TEST_F(RunTrialTest, FarTooMuchIsRejected) {
  TrialRequest request = Native("hold_mmap", 400 * kMiB);
  const TrialResult result = Try(request);
  EXPECT_EQ(result.verdict().decision(), REJECT);
  EXPECT_EQ(result.cause(), OUT_OF_MEMORY_UNDER_LIMIT);
  EXPECT_EQ(result.verdict().decision(), REJECT);
  EXPECT_GT(result.excess_bytes(), 0);
}

// The program seems to fit when it is measured with room to spare, and then it
// fails under the budget.
TEST_F(RunTrialTest, FittingOnceIsNotEnough) {
  TrialRequest request = Native("hold_sometimes", 200 * kMiB);
  request.set_is_unexplained(true);
  // Two small runs and then a large one have a probability of an eighth; that
  // none of 100 trials is like that, of one in 600,000.
  for (int i = 0; i < 100; ++i) {
    const TrialResult result = Try(request);
    if (result.runs_size() == 0) break;
    const TrialRun& last = result.runs(result.runs_size() - 1);
    const bool has_failed =
        last.exit_status() != 0 || last.signal_number() != 0;
    if (last.purpose() != TrialRun::PROVE || !has_failed) continue;
    EXPECT_EQ(result.verdict().decision(), REJECT);
    EXPECT_EQ(result.cause(), OUT_OF_MEMORY_UNDER_LIMIT);
    EXPECT_THAT(result.reason(), AllOf(HasSubstr("under the limit of"),
                                       HasSubstr("out of memory")));
    return;
  }
  FAIL() << "no proof failed";
}

TEST_F(RunTrialTest, PythonsStageIsNamed) {
  WriteTestFile(name_ + "/bundle/holder.py", "held = bytearray(24 << 20)\n");
  TrialRequest request = Python("import holder\nprint(len(holder.held))\n");
  request.set_budget_bytes(16 * kMiB);
  const TrialResult result = Try(request);
  EXPECT_EQ(result.verdict().decision(), REJECT) << result.reason();
  EXPECT_GE(result.heap_peak_bytes(), 24 * kMiB);
  ASSERT_EQ(result.profile().benchmarks_size(), 1);
  EXPECT_EQ(result.profile().benchmarks(0).name(), "main");
  ASSERT_GT(result.peak_sites_size(), 0);
  EXPECT_GE(result.peak_sites(0).live_bytes(), 24 * kMiB);
  EXPECT_EQ(result.peak_stage(), "holder");
  EXPECT_THAT(result.reason(), HasSubstr("'holder'"));
  EXPECT_EQ(result.profile().label(), "//test:main");
}

// Sites have memprof's names for Python lines, not addresses in the
// interpreter.
TEST_F(RunTrialTest, PythonsLinesAreTold) {
  TrialRequest request = Python(
      "def make(size):\n  return bytearray(size)\nheld = make(24 << 20)\n");
  request.set_budget_bytes(128 * kMiB);
  const TrialResult result = Try(request);
  ASSERT_GT(result.peak_sites_size(), 0);
  EXPECT_EQ(result.peak_sites(0).site(), "make (main.py:2)");
  EXPECT_GE(result.peak_sites(0).live_bytes(), 24 * kMiB);
}

TEST_F(RunTrialTest, ADevicesMemoryIsTheBudget) {
  TrialRequest request = Native("hold_malloc", 16 * kMiB);
  request = Request(ReadTestFile(Path("bundle/bundle.textproto")) +
                    " device: \"edge_box\"");
  request.clear_budget_bytes();
  request.set_is_unexplained(true);
  TrialResult result = Try(request);
  EXPECT_EQ(result.cause(), BAD_BUNDLE);
  EXPECT_THAT(result.reason(), HasSubstr("no fleet file is given"));
  EXPECT_EQ(result.verdict().decision(), BAD_CONFIGURATION);
  DeviceBudget* const device = request.add_devices();
  device->set_device("edge_bax");
  device->set_budget_bytes(32 * kMiB);
  result = Try(request);
  EXPECT_EQ(result.cause(), BAD_BUNDLE);
  EXPECT_THAT(result.reason(), HasSubstr("did you mean \"edge_bax\"?"));
  EXPECT_EQ(result.runs_size(), 0);
  device->set_device("edge_box");
  result = Try(request);
  EXPECT_EQ(result.verdict().decision(), ACCEPT) << result.reason();
  EXPECT_EQ(result.budget_bytes(), 32 * kMiB);
  device->set_budget_bytes(8 * kMiB);
  EXPECT_EQ(Try(request).verdict().decision(), REJECT);
  // The request's budget has priority over the manifest's.
  request.set_budget_bytes(24 * kMiB);
  EXPECT_EQ(Try(request).verdict().decision(), ACCEPT);
}

TEST_F(RunTrialTest, ADeviceAndABudgetAreBothKept) {
  TrialRequest request =
      Request(ReadTestFile(Native("hold_malloc", 16 * kMiB).bundle_path() +
                           "/bundle.textproto") +
              " device: \"box\" budget_bytes: 8388608");
  request.clear_budget_bytes();
  request.set_is_unexplained(true);
  DeviceBudget* const device = request.add_devices();
  device->set_device("box");
  device->set_budget_bytes(32 * kMiB);
  EXPECT_EQ(Try(request).budget_bytes(), 8 * kMiB);
  device->set_budget_bytes(4 * kMiB);
  EXPECT_EQ(Try(request).budget_bytes(), 4 * kMiB);
}

TEST_F(RunTrialTest, ABudgetOfOneByteIsOne) {
  TrialRequest request = Native("good", 0);
  request = Request(ReadTestFile(Path("bundle/bundle.textproto")) +
                    " device: \"box\" budget_bytes: 1");
  request.clear_budget_bytes();
  request.set_is_unexplained(true);
  DeviceBudget* const device = request.add_devices();
  device->set_device("box");
  device->set_budget_bytes(4 * kMiB);
  EXPECT_EQ(Try(request).budget_bytes(), 1);
}

TEST_F(RunTrialTest, NegativeNumbersAreTheCallersMistake) {
  TrialRequest request = Native("good", 0);
  request.set_budget_bytes(-1);
  EXPECT_THAT(RunTrial(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("not negative")));
  request.set_budget_bytes(32 * kMiB);
  request.set_time_limit_seconds(-1);
  EXPECT_THAT(RunTrial(request), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(RunTrialTest, FailureIsNoVerdictOnMemory) {
  const TrialResult result = Try(Native("fail", 0));
  EXPECT_EQ(result.cause(), PROGRAM_FAILED);
  EXPECT_THAT(result.reason(), HasSubstr("status 7"));
  EXPECT_EQ(result.verdict().decision(), PRODUCER_FAILED);
}

TEST_F(RunTrialTest, TimeOutIsNoVerdictOnMemory) {
  TrialRequest request = Native("ignore_signals", 0);
  request.set_time_limit_seconds(1);
  const TrialResult result = Try(request);
  EXPECT_EQ(result.cause(), TIMED_OUT);
  EXPECT_EQ(result.verdict().decision(), PRODUCER_FAILED);
}

TEST_F(RunTrialTest, WithoutBudgetOnlyTheNeedIsTold) {
  TrialRequest request = Native("good", 0);
  request.clear_budget_bytes();
  const TrialResult result = Try(request);
  EXPECT_EQ(result.cause(), NO_BUDGET);
  EXPECT_GT(result.whole_process_peak_bytes(), 0);
}

TEST_F(RunTrialTest, ForgedRecordsChangeNoVerdict) {
  const TrialResult result = Try(Native("forge_records", 0));
  EXPECT_EQ(result.verdict().decision(), ACCEPT) << result.reason();
  EXPECT_LT(result.whole_process_peak_bytes(), 8 * kMiB);
  EXPECT_THAT(result.explanation_failure(), HasSubstr("3.0.record"));
  EXPECT_FALSE(result.has_profile());
}

TEST_F(RunTrialTest, PipesAndFoldersAmongTheRecordsArePassedOver) {
  const TrialResult result = Try(Native("forge_pipe_and_folder", 0));
  EXPECT_EQ(result.verdict().decision(), ACCEPT) << result.reason();
  EXPECT_TRUE(result.has_profile()) << result.explanation_failure();
}

TEST_F(RunTrialTest, BadBundlesAreRejected) {
  TrialRequest request = Native("good", 0);
  WriteTestFile(name_ + "/bundle/bundle.textproto", "nonsense");
  TrialResult result = Try(request);
  EXPECT_EQ(result.cause(), BAD_BUNDLE);
  EXPECT_EQ(result.verdict().decision(), BAD_CONFIGURATION);
  // The entry is not a program.
  request = Request(
      "schema_version: 1 kind: NATIVE_PROGRAM entry: \"bundle.textproto\"");
  result = Try(request);
  EXPECT_EQ(result.cause(), BAD_BUNDLE) << result.reason();
  request.set_bundle_path("/no/such/bundle");
  EXPECT_THAT(RunTrial(request), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RunTrialTest, ThresholdsJudgeBesides) {
  TrialRequest request = Native("hold_malloc", 16 * kMiB);
  const std::string head =
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\n"
      "schema_version: 1\n"
      "threshold { selector { label: \"//bundle:program\" } metric: ";
  const std::string tail = " severity: BLOCK owner: \"t\" reason: \"t\" }\n";
  request.add_threshold_paths(WriteTestFile(
      name_ + "/wide.textproto",
      absl::StrCat(head, "PEAK_RESIDENT_BYTES max_bytes: 20000000", tail)));
  TrialResult result = Try(request);
  EXPECT_EQ(result.verdict().decision(), ACCEPT)
      << result.reason() << result.verdict().DebugString();
  request.set_threshold_paths(
      0,
      WriteTestFile(
          name_ + "/tight.textproto",
          absl::StrCat(head, "PEAK_RESIDENT_BYTES max_bytes: 16000000", tail)));
  result = Try(request);
  EXPECT_EQ(result.cause(), THRESHOLD_REJECTED) << result.reason();
  EXPECT_EQ(result.verdict().decision(), REJECT);
}

// Returns the text of a threshold file that limits a program's heap.
std::string HeapThreshold(int64_t bytes) {
  return absl::StrCat(
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\n"
      "schema_version: 1\n"
      "threshold { selector { label: \"//bundle:program\" } metric: "
      "PEAK_LIVE_ABSOLUTE_USABLE_BYTES max_bytes: ",
      bytes, " severity: BLOCK owner: \"t\" reason: \"t\" }\n");
}

TEST_F(RunTrialTest, AHeapThatExplainsNothingDecidesNothing) {
  TrialRequest request = Native("hold_unless_profiled", 60 * kMiB);
  request.set_budget_bytes(128 * kMiB);
  request.add_threshold_paths(
      WriteTestFile(name_ + "/heap.textproto", HeapThreshold(1000000)));
  const TrialResult result = Try(request);
  EXPECT_EQ(result.cause(), THRESHOLD_INCONCLUSIVE);
  EXPECT_EQ(result.verdict().decision(), INCONCLUSIVE);
  EXPECT_THAT(result.reason(),
              AllOf(HasSubstr("does not explain"),
                    HasSubstr("a threshold on PEAK_RESIDENT_BYTES")));
  ASSERT_EQ(result.verdict().problems_size(), 1);
  const TrialRun& last = result.runs(result.runs_size() - 1);
  EXPECT_EQ(last.purpose(), TrialRun::PROVE_HEAP);
}

// Untouched addresses do not explain memory.
TEST_F(RunTrialTest, AReservationExplainsNothing) {
  TrialRequest request = Native("reserve_if_profiled", 60 * kMiB);
  request.set_budget_bytes(128 * kMiB);
  request.add_threshold_paths(
      WriteTestFile(name_ + "/heap.textproto", HeapThreshold(1000000)));
  EXPECT_EQ(Try(request).cause(), THRESHOLD_INCONCLUSIVE);
}

TEST_F(RunTrialTest, AProfiledRunThatFailsDecidesNothing) {
  TrialRequest request = Native("fail_if_profiled", 0);
  request.add_threshold_paths(
      WriteTestFile(name_ + "/heap.textproto", HeapThreshold(1000000)));
  const TrialResult result = Try(request);
  EXPECT_NE(result.verdict().decision(), ACCEPT);
  EXPECT_THAT(result.verdict().decision(), testing::Ne(ACCEPT));
}

TEST_F(RunTrialTest, AHeapThatExplainsTheMemoryIsJudged) {
  TrialRequest request = Native("hold_malloc", 60 * kMiB);
  request.set_budget_bytes(128 * kMiB);
  request.add_threshold_paths(
      WriteTestFile(name_ + "/heap.textproto",
                    HeapThreshold(68 * kMiB)));  // jemalloc has 64 MiB for 60
  const TrialResult fits = Try(request);
  EXPECT_EQ(fits.verdict().decision(), ACCEPT) << fits.reason();
  WriteTestFile(name_ + "/heap.textproto", HeapThreshold(50 * kMiB));
  EXPECT_EQ(Try(request).cause(), THRESHOLD_REJECTED);
}

// The measured peak contains pages of a file, which the kernel drops under a
// limit.
TEST_F(RunTrialTest, PagesOfFilesNeedNoExplanation) {
  TrialRequest request = Native("hold_page_cache", 0);
  // Random bytes cannot be compressed.
  std::mt19937 random(1);
  std::string noise(static_cast<size_t>(24 * kMiB), ' ');
  for (char& each : noise) each = static_cast<char>(random());
  WriteTestFile(name_ + "/bundle/data", noise);
  request.set_budget_bytes(128 * kMiB);
  request.add_threshold_paths(
      WriteTestFile(name_ + "/heap.textproto", HeapThreshold(kMiB)));
  const TrialResult result = Try(request);
  EXPECT_EQ(result.verdict().decision(), ACCEPT) << result.reason();
  EXPECT_GE(result.whole_process_peak_bytes(), 24 * kMiB);
  ASSERT_GT(result.runs_size(), 0);
  EXPECT_EQ(result.runs(result.runs_size() - 1).purpose(),
            TrialRun::PROVE_HEAP);
}

TEST_F(RunTrialTest, ABudgetBeyondTheHostDoesNotOverflow) {
  TrialRequest request = Native("hold_malloc", 8 * kMiB);
  request.set_budget_bytes(std::numeric_limits<int64_t>::max());
  request.set_is_unexplained(true);
  const TrialResult result = Try(request);
  EXPECT_EQ(result.verdict().decision(), ACCEPT) << result.reason();
  const absl::StatusOr<int64_t> room = ReadBytesForRuns();
  ASSERT_THAT(room, IsOk());
  for (const TrialRun& run : result.runs()) {
    EXPECT_GT(run.limit_bytes(), 8 * kMiB);
    EXPECT_LT(run.limit_bytes(), 2 * *room);
  }
}

// The host has less memory than the budget, so a larger host may accept.
TEST_F(RunTrialTest, AHostThatIsTooSmallRejectsNothing) {
  TrialRequest request = Native("hold_mmap", 100 * kMiB);
  request.set_budget_bytes(200 * kMiB);
  request.set_is_unexplained(true);
  MemoryAdmission admission(40 * kMiB);
  const absl::StatusOr<TrialResult> result =
      RunTrial(request, {&admission, nullptr, nullptr});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->cause(), HOST_OUT_OF_MEMORY) << result->reason();
  EXPECT_EQ(result->verdict().decision(), INCONCLUSIVE);
  EXPECT_THAT(result->reason(), HasSubstr("all that this host has"));
  // If the host has more than the budget, the program exceeds the budget.
  request.set_budget_bytes(30 * kMiB);
  EXPECT_EQ(RunTrial(request, {&admission, nullptr, nullptr})->cause(),
            OUT_OF_MEMORY_UNDER_LIMIT);
}

// Runs in a process whose cgroup, and so that of the runs, is as small as a
// host with little free memory.
TEST_F(RunTrialTest, DISABLED_InASmallGroup) {
  TrialRequest request = Native("hold_mmap", 200 * kMiB);
  request.set_budget_bytes(400 * kMiB);
  request.set_is_unexplained(true);
  // The admission promises more memory than the cgroup has.
  MemoryAdmission admission(int64_t{1} << 30);
  const absl::StatusOr<TrialResult> result =
      RunTrial(request, {&admission, nullptr, nullptr});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->cause(), HOST_OUT_OF_MEMORY);
  EXPECT_THAT(result->reason(), HasSubstr("below its run's limit"));
}

TEST_F(RunTrialTest, AKillBelowTheLimitIsTheHosts) {
  const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(96 * kMiB);
  ASSERT_THAT(group, IsOk());
  if (group->is_version_2()) {
    GTEST_SKIP() << "a group of version 2 that has processes has none below it";
  }
  const pid_t child = fork();
  if (child == 0) {
    // The kernel kills the program first, since it has more memory.
    if (write(group->processes_descriptor(), "0\n", 2) != 2) _exit(99);
    execl("/proc/self/exe", "run_trial_test", "--gtest_also_run_disabled_tests",
          "--gtest_filter=RunTrialTest.DISABLED_InASmallGroup",
          "--gtest_output=", nullptr);
    _exit(98);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(RunTrialTest, TheVerdictIsToldBeforeItsExplanation) {
  TrialRequest request = Native("hold_malloc", 16 * kMiB);
  std::vector<TrialResult> told;
  TrialSurroundings surroundings;
  surroundings.on_decided = [&](const TrialResult& result) {
    told.push_back(result);
  };
  ASSERT_THAT(RunTrial(request, surroundings), IsOk());
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0].verdict().decision(), ACCEPT);
  EXPECT_EQ(told[0].runs(told[0].runs_size() - 1).purpose(), TrialRun::PROVE);
  // A threshold may still reject a program that fits its budget.
  request.add_threshold_paths(
      WriteTestFile(name_ + "/heap.textproto", HeapThreshold(kMiB)));
  ASSERT_THAT(RunTrial(request, surroundings), IsOk());
  EXPECT_EQ(told.size(), 1);
}

}  // namespace
}  // namespace footprint
