#include "footprint/gates/sandbox/resident_sum.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr size_t kHeldBytes = size_t{24} << 20;

// A process that holds memory until the end of this object's life.
class Holder {
 public:
  explicit Holder(bool is_dumpable) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    process_ = fork();
    if (process_ == 0) {
      if (!is_dumpable) prctl(PR_SET_DUMPABLE, 0);
      void* const held = mmap(nullptr, kHeldBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(held, 1, kHeldBytes);
      (void)!write(ends[1], "r", 1);
      while (true) pause();
    }
    char ready = 0;
    EXPECT_EQ(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  ~Holder() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  int process() const { return process_; }

 private:
  pid_t process_ = 0;
};

// Returns a folder that looks like that of a control group with the processes.
std::string Group(const std::vector<int>& processes) {
  static int count = 0;
  const std::string name = absl::StrCat("group", ++count);
  std::filesystem::create_directory(TestPath(name));
  WriteTestFile(name + "/cgroup.procs",
                absl::StrCat(absl::StrJoin(processes, "\n"), "\n"));
  return TestPath(name);
}

// Gives up every right to look into other processes.
void DropRights() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) != 0) std::abort();
}

TEST(ResidentSumTest, AddsTheProcesses) {
  const Holder first(/*is_dumpable=*/true);
  const Holder second(/*is_dumpable=*/true);
  const absl::StatusOr<int64_t> sum =
      ReadResidentSum(Group({first.process(), second.process()}));
  ASSERT_THAT(sum, IsOk());
  EXPECT_GE(*sum, static_cast<int64_t>(2 * kHeldBytes));
  EXPECT_LT(*sum, static_cast<int64_t>(3 * kHeldBytes));
}

TEST(ResidentSumTest, OneProcessHasNoSum) {
  EXPECT_THAT(ReadResidentSum(Group({getpid()})), IsOkAndHolds(0));
}

// A process that has ended and was not waited for has no memory.
TEST(ResidentSumTest, AZombieHasNoMemory) {
  const pid_t zombie = fork();
  if (zombie == 0) _exit(0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, zombie, &ended, WEXITED | WNOWAIT), 0);
  const Holder holder(/*is_dumpable=*/true);
  const absl::StatusOr<int64_t> sum =
      ReadResidentSum(Group({zombie, holder.process()}));
  ASSERT_EQ(waitpid(zombie, nullptr, 0), zombie);
  ASSERT_THAT(sum, IsOk());
  EXPECT_GE(*sum, static_cast<int64_t>(kHeldBytes));
  EXPECT_LT(*sum, static_cast<int64_t>(2 * kHeldBytes));
}

// A sum without a process that lives would be too small.
TEST(ResidentSumDeathTest, AProcessThatMayNotBeReadIsAnError) {
  const Holder readable(/*is_dumpable=*/true);
  const Holder hidden(/*is_dumpable=*/false);
  const std::string group = Group({readable.process(), hidden.process()});
  EXPECT_EXIT(
      {
        DropRights();
        std::fputs(ReadResidentSum(group).status().ToString().c_str(), stderr);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "PERMISSION_DENIED: sandbox: the memory of process [0-9]+ of the program "
      "may not be read");
}

TEST(ResidentSumTest, AGroupThatIsNotThereIsAnError) {
  EXPECT_THAT(ReadResidentSum(TestPath("no_group")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
