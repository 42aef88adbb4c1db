#include "footprint/gates/sandbox/sandbox.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/refuse_system_call.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/sandbox/host.h"
#include "footprint/gates/sandbox/missing_mechanism.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kMiB = 1 << 20;
constexpr int kRefused = 10;  // exit status of the test program
// What a program tries, and the sandbox refuses.
constexpr const char* kEscapes[] = {
    "file_too_large",  "fork_bomb",          "thread_bomb",
    "try_ptrace",      "try_reading_others", "try_signals",
    "try_mount",       "try_namespaces",     "try_chroot",
    "try_old_root",    "try_write_root",     "try_host_files",
    "try_symlink",     "try_proc_writes",    "try_cgroup",
    "try_devices",     "try_network",        "try_other_sockets",
    "try_calls",       "try_unknown_calls",  "try_clock",
    "try_root",        "try_limits",         "try_host_name",
    "try_descriptors", "try_huge_pages"};

// A bundle with the test program, and a sandbox root, in a new folder.
class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_SANDBOX();
    MakeRoot();
  }

  void MakeRoot() {
    static int count = 0;
    // A death test sets up again, in another process.
    folder_ = TestPath(absl::StrCat("sandbox", getpid(), "-", ++count));
    std::filesystem::create_directories(folder_ + "/bundle");
    std::filesystem::copy_file("gates/sandbox/sandbox_test_program",
                               folder_ + "/bundle/program");
    absl::StatusOr<SandboxRoot> root = SandboxRoot::Create(folder_);
    ASSERT_THAT(root, IsOk());
    root_ = std::make_unique<SandboxRoot>(*std::move(root));
  }

  SandboxRun Run(const std::string& name, int64_t bytes = 0) const {
    SandboxRun run;
    run.program = "/bundle/program";
    run.arguments = {"program", name, absl::StrCat(bytes)};
    run.bundle_folder = folder_ + "/bundle";
    run.limit_bytes = 64 * kMiB;
    run.time_limit_seconds = 20;
    return run;
  }

  SandboxEnd End(const SandboxRun& run) const {
    const absl::StatusOr<SandboxEnd> end = RunInSandbox(*root_, run);
    EXPECT_THAT(end, IsOk());
    return end.ok() ? *end : SandboxEnd();
  }

  std::string folder_;
  std::unique_ptr<SandboxRoot> root_;
};

// Counts the names in `folder` and below that contain `text`.
int CountNames(const std::string& folder, const std::string& text) {
  int count = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    count += each.path().filename().string().find(text) != std::string::npos;
  }
  return count;
}

TEST_F(SandboxTest, GoodProgramRuns) {
  const SandboxEnd end = End(Run("good"));
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_EQ(end.signal_number, 0);
  EXPECT_EQ(end.standard_output_tail, "hello\n");
  EXPECT_GT(end.peak_bytes, 0);
  EXPECT_LT(end.peak_bytes, 4 * kMiB);
  // The peak does not include the size of this process.
  EXPECT_GT(end.peak_resident_bytes, kMiB / 2);
  EXPECT_LT(end.peak_resident_bytes, 4 * kMiB);
  EXPECT_FALSE(end.is_timed_out);
}

TEST_F(SandboxTest, ExitStatusAndSignalArrive) {
  EXPECT_EQ(End(Run("fail")).exit_status, 7);
  EXPECT_EQ(End(Run("crash")).signal_number, SIGSEGV);
}

// However a program gets memory, the kernel counts it and the limit holds.
class SandboxMemoryTest : public SandboxTest,
                          public testing::WithParamInterface<const char*> {};

TEST_P(SandboxMemoryTest, BytesAreCounted) {
  const SandboxEnd end = End(Run(GetParam(), 24 * kMiB));
  EXPECT_EQ(end.exit_status, 0) << end.standard_error_tail;
  EXPECT_EQ(end.signal_number, 0);
  EXPECT_EQ(end.killed_process_count, 0);
  EXPECT_GE(end.peak_bytes, 24 * kMiB);
  EXPECT_LT(end.peak_bytes, 40 * kMiB);
}

TEST_P(SandboxMemoryTest, LimitHolds) {
  SandboxRun run = Run(GetParam(), 24 * kMiB);
  run.limit_bytes = 16 * kMiB;
  const SandboxEnd end = End(run);
  EXPECT_LE(end.peak_bytes, 16 * kMiB);
  EXPECT_GT(end.limit_hit_count, 0);
  if (std::string(GetParam()) != "hold_after_the_end") {
    EXPECT_NE(end.exit_status + end.signal_number, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, SandboxMemoryTest,
    testing::Values("hold_malloc", "hold_mmap", "hold_brk", "hold_shared",
                    "hold_sysv", "hold_memfd", "hold_tmpfs", "hold_devshm",
                    "hold_deleted", "hold_in_child", "hold_in_four_children",
                    "hold_after_the_end", "hold_stack"),
    [](const auto& info) { return std::string(info.param); });

// A program that tries something forbidden is refused.
class SandboxEscapeTest : public SandboxTest,
                          public testing::WithParamInterface<const char*> {};

TEST_P(SandboxEscapeTest, IsRefused) {
  const SandboxEnd end = End(Run(GetParam()));
  EXPECT_EQ(end.exit_status, kRefused);
  EXPECT_EQ(end.signal_number, 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, SandboxEscapeTest, testing::ValuesIn(kEscapes),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

// The calls of ordinary programs are allowed.
TEST_F(SandboxTest, OrdinaryCallsAreLetThrough) {
  for (const char* name : {"use_files", "use_waiting", "use_processes"}) {
    const SandboxEnd end = End(Run(name));
    EXPECT_EQ(end.exit_status, 0) << name << ": " << end.standard_error_tail;
    EXPECT_EQ(end.signal_number, 0) << name;
  }
}

// Python's own module tests take long; these use most kinds of system calls.
TEST_F(SandboxTest, PythonRuns) {
  SandboxRun run = Run("good");
  run.program = "/usr/bin/python3";
  run.arguments = {
      "python3", "-c",
      "import asyncio, concurrent.futures, ctypes, mmap, multiprocessing\n"
      "import os, random, shutil, socket, sqlite3, subprocess, tempfile\n"
      "import threading, time\n"
      "async def main():\n"
      "  await asyncio.sleep(0.01)\n"
      "  process = await asyncio.create_subprocess_exec('/bin/true')\n"
      "  return await process.wait()\n"
      "assert asyncio.run(main()) == 0\n"
      "with concurrent.futures.ThreadPoolExecutor(2) as pool:\n"
      "  assert list(pool.map(abs, [-1, -2])) == [1, 2]\n"
      "with multiprocessing.Pool(2) as pool:\n"
      "  assert pool.map(abs, [-1, -2]) == [1, 2]\n"
      "assert subprocess.run(['/bin/sh', '-c', 'ls / | sort']).returncode == "
      "0\n"
      "with tempfile.TemporaryDirectory() as folder:\n"
      "  shutil.copytree('/bundle', folder + '/copy')\n"
      "  base = sqlite3.connect(folder + '/base')\n"
      "  base.execute('create table a (b)')\n"
      "  base.commit()\n"
      "left, right = socket.socketpair()\n"
      "left.send(b'x'); assert right.recv(1) == b'x'\n"
      "mmap.mmap(-1, 4096).write(b'x')\n"
      "os.cpu_count(); os.sched_getaffinity(0); os.getloadavg; time.sleep(0)\n"
      "print('done')\n"};
  const SandboxEnd end = End(run);
  EXPECT_EQ(end.exit_status, 0) << end.standard_error_tail;
  EXPECT_THAT(end.standard_output_tail, HasSubstr("done\n"));
}

class SandboxRefusalTest : public SandboxTest {
 protected:
  // Returns the status, as text, of a run in a child process that calls
  // `arrange` first.
  std::string TextAfter(const std::function<bool()>& arrange) const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string text = "it cannot be arranged";
      if (unshare(CLONE_NEWUSER) == 0 && arrange()) {
        text = RunInSandbox(*root_, Run("good")).status().ToString();
      }
      _exit(write(ends[1], text.data(), text.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    std::string text(1000, '\0');
    text.resize(std::max<ssize_t>(0, read(ends[0], &text[0], text.size())));
    close(ends[0]);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    return text;
  }
};

// With version 2 of control groups, such a user lacks a group first.
constexpr char kNoGroup[] = "needs a group that it may write";

TEST_F(SandboxRefusalTest, WhereNoNamespaceIsLeftItMayWorkLater) {
  EXPECT_THAT(TextAfter([] {
                std::ofstream("/proc/sys/user/max_user_namespaces") << "0\n";
                return unshare(CLONE_NEWUSER) != 0 && errno == ENOSPC;
              }),
              AnyOf(AllOf(StartsWith("RESOURCE_EXHAUSTED"),
                          HasSubstr("namespaces are refused: No space left")),
                    HasSubstr(kNoGroup)));
}

// The new namespace has no mapping for this user.
TEST_F(SandboxRefusalTest, WhereTheUserIsUnknownNamespacesAreRefused) {
  EXPECT_THAT(
      TextAfter([] { return unshare(CLONE_NEWUSER) != 0 && errno == EPERM; }),
      AllOf(StartsWith("FAILED_PRECONDITION"),
            AnyOf(HasSubstr("namespaces are refused: "), HasSubstr(kNoGroup))));
}

TEST_F(SandboxTest, TimeEndsWhateverTheProgramDoes) {
  for (const char* name :
       {"sleep_long", "spin", "ignore_signals", "stop_self"}) {
    SandboxRun run = Run(name);
    run.time_limit_seconds = 1;
    const SandboxEnd end = End(run);
    EXPECT_TRUE(end.is_timed_out) << name;
  }
}

double ProcessorSecondsOfChildren() {
  rusage usage = {};
  EXPECT_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec +
                                    usage.ru_stime.tv_usec);
}

TEST_F(SandboxTest, WaitsWithoutAProcessor) {
  SandboxRun run = Run("sleep_long");
  run.time_limit_seconds = 2;
  const double before = ProcessorSecondsOfChildren();
  EXPECT_TRUE(End(run).is_timed_out);
  EXPECT_LT(ProcessorSecondsOfChildren() - before, 1);
}

TEST_F(SandboxTest, EndOfMuchOutputIsKept) {
  const SandboxEnd end = End(Run("flood"));
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_EQ(end.standard_output_tail, std::string(kOutputTailBytes, 'x'));
}

TEST_F(SandboxTest, MissingProgramIsTheCallersMistake) {
  SandboxRun run = Run("good");
  run.program = "/bundle/missing";
  EXPECT_THAT(RunInSandbox(*root_, run),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("sandbox: execution ("),
                             HasSubstr("No such file"))));
}

// The program is static, since the image has no loader.
class ImageRunTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (IsSkipped()) return;
    image_ = folder_ + "/image";
    for (const char* each : {"dev", "proc", "tmp", "bin", "srv"}) {
      std::filesystem::create_directories(absl::StrCat(image_, "/", each));
    }
    std::filesystem::copy_file("gates/sandbox/sandbox_static_program",
                               image_ + "/bin/program");
  }

  SandboxRun RunOfImage(const std::string& name) const {
    SandboxRun run = Run(name);
    run.bundle_folder = "";
    run.image_folder = image_;
    run.working_folder = "/srv";
    run.program = "program";
    run.environment = {"PATH=/none::/bin/program:/bin"};
    return run;
  }

  std::string image_;
};

TEST_F(ImageRunTest, TheImageIsTheRoot) {
  EXPECT_EQ(End(RunOfImage("good")).exit_status, 0);
  // The sandbox refuses the same as with the host's folders.
  for (const char* each : kEscapes) {
    EXPECT_EQ(End(RunOfImage(each)).exit_status, kRefused) << each;
  }
  EXPECT_TRUE(std::filesystem::is_empty(image_ + "/dev"));
  EXPECT_TRUE(std::filesystem::is_empty(image_ + "/tmp"));
}

TEST_F(ImageRunTest, ProgramsAreFoundByPathAndByName) {
  SandboxRun run = RunOfImage("good");
  run.program = "/bin/program";
  EXPECT_EQ(End(run).exit_status, 0);
  run.program = "../bin/program";
  EXPECT_EQ(End(run).exit_status, 0);
  run.program = "program";
  run.environment = {"PATH=/srv"};
  EXPECT_THAT(
      RunInSandbox(*root_, run),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("No such file")));
  // The empty part of PATH is the program's folder.
  run.environment = {"PATH=:/none"};
  run.working_folder = "/bin";
  EXPECT_EQ(End(run).exit_status, 0);
}

// The first process does not read them, so it cannot die of them.
TEST_F(ImageRunTest, VariablesAreTheProgramsAlone) {
  SandboxRun run = RunOfImage("good");
  run.program = "/bin/program";
  run.environment.push_back(
      "GLIBC_TUNABLES=glibc.rtld.nns=16:"
      "glibc.rtld.optional_static_tls=3000000000");
  EXPECT_THAT(RunInSandbox(*root_, run), IsOk());
  run.environment = {absl::StrCat("A=", std::string(200000, 'a'))};
  EXPECT_THAT(RunInSandbox(*root_, run),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Argument list too long")));
}

TEST_F(ImageRunTest, AFolderThatIsMissingIsTheCallersMistake) {
  SandboxRun run = RunOfImage("good");
  run.working_folder = "/missing";
  EXPECT_THAT(RunInSandbox(*root_, run),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("sandbox: its folder ("),
                             HasSubstr("No such file"))));
}

TEST_F(ImageRunTest, RecordsLieInDev) {
  SandboxRun run = RunOfImage("good");
  WriteTestFile("agent", "");
  run.agent = TestPath("agent");
  int count = -1;
  run.read_records = [&](const std::string& folder) {
    count = CountNames(folder, "");
  };
  EXPECT_EQ(End(run).exit_status, 0);
  EXPECT_GE(count, 0);
  EXPECT_EQ(AgentPath(run), "/dev/footprint/agent.so");
  EXPECT_EQ(RecordsPath(run), "/dev/footprint/records");
}

TEST_F(SandboxTest, RecordsAreReadWhileTheyAreThere) {
  SandboxRun run = Run("forge_records");
  WriteTestFile("agent", "");
  run.agent = TestPath("agent");
  int count = 0;
  run.read_records = [&](const std::string& folder) {
    count = CountNames(folder, ".0.record");
  };
  EXPECT_EQ(End(run).exit_status, 0);
  EXPECT_EQ(count, 3);
}

// The largest process has an eighth of the file, and the group is charged for
// none of it, since it was not the first to read it.
TEST_F(SandboxTest, PagesOfAllProcessesAreAdded) {
  SandboxRun run = Run("hold_host_file_in_children", 32 * kMiB);
  run.runner = WriteTestFile("host_file", std::string(32 * kMiB, 'x'));
  const SandboxEnd end = End(run);
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_LT(end.peak_bytes, 24 * kMiB);
  EXPECT_LT(end.peak_resident_bytes, 8 * kMiB);
  EXPECT_GE(end.peak_proportional_bytes, 32 * kMiB);
  EXPECT_LT(end.peak_proportional_bytes, 40 * kMiB);
}

// Pages that a child shares with its parent exist once.
TEST_F(SandboxTest, SharedPagesCountOnce) {
  const SandboxEnd end = End(Run("share_with_children", 24 * kMiB));
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_GE(end.peak_proportional_bytes, 24 * kMiB);
  EXPECT_LT(end.peak_proportional_bytes, 32 * kMiB);
}

// A record is sparse: its pages are limited, not its length.
TEST_F(SandboxTest, ARecordMaySeemLarge) {
  SandboxRun run = Run("make_large_record");
  run.agent = WriteTestFile("agent", "");
  EXPECT_EQ(End(run).exit_status, 0);
}

// Runs two programs at once on one processor, which both want it all the time,
// and returns the processor times of the second and the first as a ratio.
double RatioOfTimes(const std::function<SandboxEnd(int weight)>& run, int first,
                    int second) {
  cpu_set_t before;
  CPU_ZERO(&before);
  EXPECT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  SandboxEnd ends[2];
  std::thread other([&] { ends[1] = run(second); });
  ends[0] = run(first);
  other.join();
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_GT(ends[0].processor_time_ns, 0);
  return static_cast<double>(ends[1].processor_time_ns) /
         static_cast<double>(ends[0].processor_time_ns);
}

// Other processes on this processor take from both alike.
TEST_F(SandboxTest, WeightsShareAProcessor) {
  const absl::Status has_weights = CheckCpuWeights();
  if (!has_weights.ok()) GTEST_SKIP() << "NOT TESTED: " << has_weights;
  const auto run = [this](int weight) {
    SandboxRun spin = Run("spin_for", 2000);
    spin.cpu_weight = weight;
    return End(spin);
  };
  const double ratio = RatioOfTimes(run, 100, 400);
  std::printf("processor time at weights 100 and 400: 1 to %.2f\n", ratio);
  EXPECT_GT(ratio, 2.0);
  EXPECT_LT(ratio, 8.0);
  const double equal = RatioOfTimes(run, 100, 100);
  std::printf("at weights 100 and 100: 1 to %.2f\n", equal);
  EXPECT_GT(equal, 0.5);
  EXPECT_LT(equal, 2.0);
}

// Hides the cpu controllers from this process. Returns false if it may not
// mount.
bool HideCpuControllers(const std::string& folder) {
  std::string kept;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" - cgroup cgroup rw,cpu") == std::string::npos) {
      kept += line + "\n";
    }
  }
  const std::string path = folder + "/mountinfo";
  std::ofstream(path) << kept;
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount(path.c_str(), "/proc/self/mountinfo", nullptr, MS_BIND,
               nullptr) == 0;
}

// The test runs in a process that has not looked for its group yet.
using SandboxDeathTest = SandboxTest;

TEST_F(SandboxDeathTest, WithoutAControllerAWeightHasNoEffect) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(kMiB);
  ASSERT_THAT(group, IsOk());
  if (group->is_version_2()) {
    GTEST_SKIP() << "NOT TESTED: only mounts of version 1 can be hidden";
  }
  SandboxRun run = Run("good");
  run.cpu_weight = 25;
  EXPECT_EXIT(
      {
        if (!HideCpuControllers(folder_)) {
          std::fprintf(stderr, "may not mount\n");
          _exit(0);
        }
        // A group is looked for once. A /proc that is hidden in part would
        // keep the sandbox from mounting its own.
        const std::string problem(CheckCpuWeights().message());
        if (umount("/proc/self/mountinfo") != 0) std::perror("umount");
        std::fprintf(stderr, "%s%s", End(run).standard_output_tail.c_str(),
                     problem.c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0),
      "may not mount|hello\ncgroup cpu: .*mount one at|under systemd");
}

// Descriptors of this process must not come to the program.
TEST_F(SandboxDeathTest, DescriptorsThatCannotBeClosedAreAnError) {
  const SandboxRun run = Run("try_descriptors");
  EXPECT_EXIT(
      {
        if (!RefuseClosingRanges()) std::fprintf(stderr, "no filter");
        const absl::StatusOr<SandboxEnd> end = RunInSandbox(*root_, run);
        std::fprintf(stderr, "%s", end.status().ToString().c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0), "FAILED_PRECONDITION: .*not permitted");
}

// No sandbox has run in its processes.
class FirstSandboxDeathTest : public SandboxTest {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    MakeRoot();
  }
};

// Runs with every number of free descriptors from none on, so that the first
// program cannot be made once.
TEST_F(FirstSandboxDeathTest, AShortageOfDescriptorsEndsWithIt) {
  const SandboxRun run = Run("good");
  EXPECT_EXIT(
      {
        rlimit before;
        getrlimit(RLIMIT_NOFILE, &before);
        const int first_free = dup(STDERR_FILENO);
        close(first_free);
        for (rlim_t free = 0; free < 10; ++free) {
          rlimit limit = before;
          limit.rlim_cur = static_cast<rlim_t>(first_free) + free;
          setrlimit(RLIMIT_NOFILE, &limit);
          const absl::Status status = RunInSandbox(*root_, run).status();
          setrlimit(RLIMIT_NOFILE, &before);
          std::fprintf(stderr, "%s\n", status.ToString().c_str());
        }
        std::fprintf(stderr, "%s", End(run).standard_output_tail.c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0),
      "cgroup memory: .*Delegate|namespaces are refused|"
      "cannot be kept in memory: Too many.*\n(.*Too many.*\n)+hello\n");
}

// Another full /proc, such as a chroot's, lets the sandbox mount its own.
TEST_F(SandboxDeathTest, AHiddenProcIsNamed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const SandboxRun run = Run("good");
  EXPECT_EXIT(
      {
        if (!HideCpuControllers(folder_)) {
          std::fprintf(stderr, "may not mount\n");
          _exit(0);
        }
        const absl::StatusOr<SandboxEnd> end = RunInSandbox(*root_, run);
        std::fprintf(stderr, "%s",
                     end.ok() ? end->standard_output_tail.c_str()
                              : std::string(end.status().message()).c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0),
      "may not mount|hello\n|hide parts of .*systempaths=unconfined");
}

TEST_F(SandboxTest, NothingIsLeftBehind) {
  const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(kMiB);
  ASSERT_THAT(group, IsOk());
  const std::string groups =
      std::filesystem::path(group->path()).parent_path().string();
  const std::string own = absl::StrCat("footprint-", getpid());
  SandboxRun run = Run("hold_after_the_end", kMiB);
  End(run);
  run = Run("sleep_long");
  run.time_limit_seconds = 1;
  End(run);
  // Only the group of this test is left.
  EXPECT_EQ(CountNames(groups, own), 1);
  EXPECT_EQ(ReadTestFile("/proc/self/mountinfo").find(folder_),
            std::string::npos);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  root_.reset();
  EXPECT_EQ(CountNames(folder_, ""), 1);  // only the bundle
}

TEST_F(SandboxTest, RunsInSeveralThreadsStandAlone) {
  std::vector<std::thread> threads;
  std::vector<SandboxEnd> ends(4);
  for (size_t i = 0; i < ends.size(); ++i) {
    threads.emplace_back([&, i] {
      ends[i] = End(Run("hold_mmap", static_cast<int64_t>(i + 1) * 8 * kMiB));
    });
  }
  for (std::thread& each : threads) each.join();
  for (size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i].exit_status, 0);
    EXPECT_NEAR(static_cast<double>(ends[i].peak_bytes),
                static_cast<double>(i + 1) * 8 * kMiB, 2 * kMiB);
  }
}

}  // namespace
}  // namespace footprint
