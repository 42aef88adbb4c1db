// Runs the attacks that a trial must withstand, and checks the verdict on each.
// They are cases of gates/sandbox/sandbox_test_program.c, and archives that are
// made here.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/sandbox/missing_mechanism.h"
#include "footprint/gates/trials/run_trial.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kBudgetBytes = 20 * kMiB;
constexpr int64_t kHeldBytes = 24 * kMiB;

struct Attack {
  const char* name;  // name of the test program's case
  TrialCause cause;
  const char* reason = "";  // a part of it
  const char* program = "sandbox_test_program";
  int64_t budget_bytes = kBudgetBytes;
};

constexpr Attack kAttacks[] = {
    // Taking more memory than the budget, in every possible way.
    {"hold_malloc", PEAK_ABOVE_BUDGET},
    {"hold_mmap", PEAK_ABOVE_BUDGET},
    {"hold_brk", PEAK_ABOVE_BUDGET},
    {"hold_shared", PEAK_ABOVE_BUDGET},
    {"hold_sysv", PEAK_ABOVE_BUDGET},
    {"hold_memfd", PEAK_ABOVE_BUDGET},
    {"hold_tmpfs", PEAK_ABOVE_BUDGET},
    {"hold_devshm", PEAK_ABOVE_BUDGET},
    {"hold_deleted", PEAK_ABOVE_BUDGET},
    {"hold_stack", PEAK_ABOVE_BUDGET},
    {"hold_in_child", PEAK_ABOVE_BUDGET},
    {"hold_in_four_children", PEAK_ABOVE_BUDGET},
    {"hold_after_the_end", PEAK_ABOVE_BUDGET},
    {"hold_page_cache", PEAK_ABOVE_BUDGET},
    {"hold_mapped_file", PEAK_ABOVE_BUDGET},
    {"hold_small_files", PEAK_ABOVE_BUDGET},
    {"hold_without_profiler", PEAK_ABOVE_BUDGET},
    {"hold_unless_profiled", PEAK_ABOVE_BUDGET},
    {"hold_malloc", PEAK_ABOVE_BUDGET, "", "sandbox_static_program"},
    // Ways out of the sandbox: the program ends with 10 if it was refused.
    {"file_too_large", PROGRAM_FAILED, "status 10"},
    // Its 255 processes need more than the budget.
    {"fork_bomb", PEAK_ABOVE_BUDGET},
    // Its 255 threads have about 20 MiB of stacks, depending on the kernel.
    {"thread_bomb", PROGRAM_FAILED, "status 10", "sandbox_test_program",
     100 * kMiB},
    {"try_ptrace", PROGRAM_FAILED, "status 10"},
    {"try_reading_others", PROGRAM_FAILED, "status 10"},
    {"try_signals", PROGRAM_FAILED, "status 10"},
    {"try_mount", PROGRAM_FAILED, "status 10"},
    {"try_namespaces", PROGRAM_FAILED, "status 10"},
    {"try_chroot", PROGRAM_FAILED, "status 10"},
    {"try_write_root", PROGRAM_FAILED, "status 10"},
    {"try_host_files", PROGRAM_FAILED, "status 10"},
    {"try_symlink", PROGRAM_FAILED, "status 10"},
    {"try_proc_writes", PROGRAM_FAILED, "status 10"},
    {"try_cgroup", PROGRAM_FAILED, "status 10"},
    {"try_devices", PROGRAM_FAILED, "status 10"},
    {"try_network", PROGRAM_FAILED, "status 10"},
    {"try_other_sockets", PROGRAM_FAILED, "status 10"},
    {"try_huge_pages", PROGRAM_FAILED, "status 10"},
    {"try_calls", PROGRAM_FAILED, "status 10"},
    {"try_unknown_calls", PROGRAM_FAILED, "status 10"},
    {"try_clock", PROGRAM_FAILED, "status 10"},
    {"try_root", PROGRAM_FAILED, "status 10"},
    {"try_limits", PROGRAM_FAILED, "status 10"},
    {"try_host_name", PROGRAM_FAILED, "status 10"},
    {"try_descriptors", PROGRAM_FAILED, "status 10"},
    {"crash", PROGRAM_FAILED, "signal 11"},
    // Attempts to run for too long.
    {"sleep_long", TIMED_OUT},
    {"spin", TIMED_OUT},
    {"ignore_signals", TIMED_OUT},
    {"stop_self", TIMED_OUT},
    // False records and floods of output, which change nothing.
    {"forge_records", FITS},
    {"flood", FITS},
    {"good", FITS},
};

// Returns random bytes, which cannot be compressed.
std::string Noise(int64_t bytes) {
  std::mt19937 random(1);
  std::string noise;
  while (static_cast<int64_t>(noise.size()) < bytes) {
    noise.push_back(static_cast<char>(random()));
  }
  return noise;
}

class AttacksTest : public testing::TestWithParam<Attack> {};

int CountTrialGroups() {
  const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(kMiB);
  if (!group.ok()) return -1;
  const std::string own = absl::StrCat("footprint-", getpid(), "-");
  int count = 0;
  for (const auto& each : std::filesystem::directory_iterator(
           std::filesystem::path(group->path()).parent_path())) {
    count += absl::StartsWith(each.path().filename().string(), own);
  }
  return count - 1;
}

TEST_P(AttacksTest, GetsTheRightVerdictAndLeavesNothing) {
  SKIP_WITHOUT_SANDBOX();
  const Attack& attack = GetParam();
  const std::string folder =
      TestPath(absl::StrCat(attack.program, "-", attack.name));
  std::filesystem::create_directories(folder + "/bundle");
  std::filesystem::create_directories(folder + "/work");
  std::filesystem::copy_file(absl::StrCat("gates/sandbox/", attack.program),
                             folder + "/bundle/program");
  const std::string relative =
      absl::StrCat(attack.program, "-", attack.name, "/bundle/");
  if (absl::StrContains(attack.name, "page_cache") ||
      absl::StrContains(attack.name, "mapped_file")) {
    WriteTestFile(relative + "data", Noise(kHeldBytes));
  }
  for (int i = 0; absl::StrContains(attack.name, "small_files") && i < 48;
       ++i) {
    WriteTestFile(absl::StrCat(relative, "data", i), Noise(kHeldBytes / 48));
  }
  WriteTestFile(relative + "bundle.textproto",
                absl::StrCat("schema_version: 1 kind: NATIVE_PROGRAM entry: "
                             "\"program\" arguments: \"",
                             attack.name, "\" arguments: \"", kHeldBytes,
                             "\" time_limit_seconds: ",
                             attack.cause == TIMED_OUT ? 1 : 20));
  TrialRequest request;
  request.set_bundle_path(folder + "/bundle");
  request.set_work_folder(folder + "/work");
  request.set_budget_bytes(attack.budget_bytes);
  request.set_is_unexplained(attack.cause != FITS);
  const absl::StatusOr<TrialResult> result = RunTrial(request);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->cause(), attack.cause) << result->reason();
  EXPECT_THAT(result->reason(), HasSubstr(attack.reason));
  EXPECT_TRUE(std::filesystem::is_empty(folder + "/work"));
  EXPECT_EQ(CountTrialGroups(), 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(ReadTestFile("/proc/self/mountinfo").find(folder),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Corpus, AttacksTest, testing::ValuesIn(kAttacks),
                         [](const auto& info) {
                           return absl::StrCat(info.param.name, info.index);
                         });

}  // namespace
}  // namespace footprint
