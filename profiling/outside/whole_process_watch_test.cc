// Tests what whole_process_watch.h promises.

#include "footprint/profiling/outside/whole_process_watch.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/machine/memory_group.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr size_t kHeldBytes = size_t{24} << 20;
constexpr int64_t kHeld = kHeldBytes;
// The most bytes that a fork of this test has besides.
constexpr int64_t kMostOther = int64_t{12} << 20;

char* Map() {
  void* const bytes = mmap(nullptr, kHeldBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return bytes == MAP_FAILED ? nullptr : static_cast<char*>(bytes);
}

void Touch(volatile char* bytes) {
  for (size_t i = 0; i < kHeldBytes; i += 4096) bytes[i] = 1;
}

// Sends data until this many bytes wait in sockets that nobody reads.
void FillSockets(size_t wanted_bytes) {
  const std::vector<char> bytes(65536, 1);
  for (size_t sent = 0; sent < wanted_bytes;) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) break;
    ssize_t size;
    while ((size = write(ends[0], bytes.data(), bytes.size())) > 0) {
      sent += static_cast<size_t>(size);
    }
  }
}

class WholeProcessWatchTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_), 0); }
  void TearDown() override {
    EndAll();
    close(ends_[0]);
    close(ends_[1]);
  }

  void EndAll() {
    for (pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    children_.clear();
  }

  // Starts a child that does `work`, reports that and stays.
  pid_t Start(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      work();
      Say();
      while (true) pause();
    }
    children_.push_back(child);
    WaitForOne();
    return child;
  }
  void Say() { (void)!write(ends_[1], "x", 1); }
  void WaitForOne() {
    char byte;
    EXPECT_EQ(read(ends_[0], &byte, 1), 1);
  }

  int ends_[2];
  std::vector<pid_t> children_;
};

TEST_F(WholeProcessWatchTest, WithoutADescendantThereIsNothing) {
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_EQ(watch.peak().resident_bytes, 0);
  EXPECT_TRUE(watch.seen_process_ids().empty());
}

TEST_F(WholeProcessWatchTest, AMarkBetweenTwoLooksIsSeen) {
  const pid_t child = Start([] {
    char* const bytes = Map();
    Touch(bytes);
    munmap(bytes, kHeldBytes);
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().resident_bytes, kHeld);
  EXPECT_LE(watch.peak().resident_bytes, kHeld + kMostOther);
  EXPECT_EQ(watch.peak().process_count, 1);
  EXPECT_EQ(watch.seen_process_ids().count(child), 1u);
}

TEST_F(WholeProcessWatchTest, TwoProcessesAddUp) {
  Start([] { Touch(Map()); });
  Start([] { Touch(Map()); });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().resident_bytes, 2 * kHeld);
  EXPECT_LE(watch.peak().resident_bytes, 2 * kHeld + 2 * kMostOther);
  EXPECT_EQ(watch.peak().process_count, 2);
  EXPECT_GE(watch.peak().anonymous_bytes, 2 * kHeld);
}

TEST_F(WholeProcessWatchTest, PagesThatAForkSharesCountOnce) {
  Start([this] {
    Touch(Map());
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      Say();
      while (true) pause();
    }
    WaitForOne();
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_EQ(watch.peak().process_count, 2);
  EXPECT_GE(watch.peak().resident_bytes, kHeld);
  EXPECT_LE(watch.peak().resident_bytes, kHeld + 2 * kMostOther);
}

int StayInTheSameAddressSpace(void*) {
  while (true) pause();
}

TEST_F(WholeProcessWatchTest, AnAddressSpaceOfTwoProcessesCountsOnce) {
  Start([] {
    Touch(Map());
    char* const stack = Map();
    clone(StayInTheSameAddressSpace, stack + kHeldBytes, CLONE_VM | SIGCHLD,
          nullptr);
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_EQ(watch.peak().process_count, 2);
  EXPECT_GE(watch.peak().resident_bytes, kHeld);
  EXPECT_LE(watch.peak().resident_bytes, kHeld + kMostOther);
  // The process would outlive its parent.
  for (int process_id : watch.seen_process_ids()) kill(process_id, SIGKILL);
}

// A sample takes a while, in which the segment is detached. Its pages, which
// belonged to a process, then belong to no mapping, but still count once.
TEST_F(WholeProcessWatchTest, ASegmentThatIsDetachedDuringALookCountsOnce) {
  Start([this] {
    Say();
    while (true) {
      const int segment = shmget(IPC_PRIVATE, kHeldBytes, 0600);
      auto* const bytes = static_cast<char*>(shmat(segment, nullptr, 0));
      Touch(bytes);
      shmdt(bytes);
      shmctl(segment, IPC_RMID, nullptr);
    }
  });
  WholeProcessWatch watch(getpid());
  for (int i = 0; i < 1500; ++i) watch.Look();
  EXPECT_GT(watch.peak().resident_bytes, kHeld);
  EXPECT_LT(watch.peak().resident_bytes, kHeld + kMostOther);
}

TEST_F(WholeProcessWatchTest, ASegmentThatNobodyHasAttachedIsItsCreators) {
  const int segment = shmget(IPC_PRIVATE, kHeldBytes, 0600);
  if (segment < 0) GTEST_SKIP() << "no System V shared memory here";
  shmctl(segment, IPC_RMID, nullptr);
  Start([] {
    const int own = shmget(IPC_PRIVATE, kHeldBytes, 0600);
    char* const bytes = static_cast<char*>(shmat(own, nullptr, 0));
    Touch(bytes);
    shmdt(bytes);
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  // The segment is found by its creator, and removed before anything can fail.
  const pid_t creator = children_.back();
  shmid_ds facts;
  shm_info info;
  const int highest = shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&info));
  for (int i = 0; i <= highest; ++i) {
    const int id = shmctl(i, SHM_STAT, &facts);
    if (id >= 0 && facts.shm_cpid == creator) shmctl(id, IPC_RMID, nullptr);
  }
  EXPECT_GE(watch.peak().resident_bytes, kHeld);
  EXPECT_GE(watch.peak().shared_bytes, kHeld);
}

TEST_F(WholeProcessWatchTest, AnOpenFileInMemoryThatNobodyMapsCounts) {
  Start([] {
    const int file = memfd_create("held", 0);
    (void)!ftruncate(file, kHeld);
    void* const bytes =
        mmap(nullptr, kHeldBytes, PROT_WRITE, MAP_SHARED, file, 0);
    Touch(static_cast<char*>(bytes));
    munmap(bytes, kHeldBytes);
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().shared_bytes, kHeld);
  EXPECT_LE(watch.peak().shared_bytes, kHeld + kMostOther);
}

TEST_F(WholeProcessWatchTest, AFileInMemoryThatIsMappedCountsOnce) {
  Start([] {
    const int file = memfd_create("held", 0);
    (void)!ftruncate(file, kHeld);
    Touch(static_cast<char*>(
        mmap(nullptr, kHeldBytes, PROT_WRITE, MAP_SHARED, file, 0)));
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().shared_bytes, kHeld);
  EXPECT_LE(watch.peak().shared_bytes, kHeld + kMostOther);
}

// Maps and reads a file on a disk.
void MapFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  unlink(path.c_str());
  (void)!ftruncate(file, kHeld);
  Touch(static_cast<char*>(
      mmap(nullptr, kHeldBytes, PROT_WRITE, MAP_SHARED, file, 0)));
}

TEST_F(WholeProcessWatchTest, FilesOfOneProgramsProcessesAddUp) {
  for (int i = 0; i < 4; ++i) {
    const std::string path = testing::TempDir() + "/" + std::to_string(i);
    Start([&path] { MapFile(path); });
  }
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().resident_bytes, 4 * kHeld);
  EXPECT_LE(watch.peak().resident_bytes, 4 * kHeld + 4 * kMostOther);
}

TEST_F(WholeProcessWatchTest, AFileThatAProcessMapsFourTimesCountsOnce) {
  const pid_t child = Start([] {
    const int file = memfd_create("ring", 0);
    (void)!ftruncate(file, kHeld);
    for (int i = 0; i < 4; ++i) {
      Touch(static_cast<char*>(
          mmap(nullptr, kHeldBytes, PROT_WRITE, MAP_SHARED, file, 0)));
    }
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  // The peak includes the kernel's high-water mark.
  rusage usage = {};
  kill(child, SIGKILL);
  ASSERT_EQ(wait4(child, nullptr, 0, &usage), child);
  children_.clear();
  EXPECT_GE(usage.ru_maxrss * int64_t{1024}, 4 * kHeld);
  watch.NoteEnded(usage.ru_maxrss * int64_t{1024});
  EXPECT_GE(watch.peak().resident_bytes, kHeld);
  EXPECT_LE(watch.peak().resident_bytes, kHeld + kMostOther);
  EXPECT_LE(std::abs(watch.peak().unexplained_bytes()), kHeld / 100);
}

TEST_F(WholeProcessWatchTest, PageTablesCount) {
  // The reach of a page of entries.
  constexpr size_t kTableReach = size_t{2} << 20;
  constexpr size_t kTables = 4096;
  Start([] {
    volatile char* const bytes = static_cast<char*>(
        mmap(nullptr, kTables * kTableReach, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    // Each read maps the one page of zeros, which belongs to no process.
    for (size_t i = 0; i < kTables; ++i) (void)bytes[i * kTableReach];
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().resident_bytes, int64_t{kTables} * 4096);
  EXPECT_GE(watch.peak().parts.kernel_bytes, int64_t{kTables} * 4096);
  EXPECT_GE(watch.peak().untouched_bytes,
            static_cast<int64_t>(kTables * kTableReach));
}

// Joins the group, like a runner's child.
void Join(const MemoryGroup& group) {
  (void)!write(group.processes_descriptor(), "0", 1);
}

TEST_F(WholeProcessWatchTest, AGroupSeesWhatNoProcessShows) {
  const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create();
  if (!group.ok()) GTEST_SKIP() << "NOT TESTED: " << group.status();
  Start([&group] {
    Join(*group);
    FillSockets(kHeldBytes);
  });
  WholeProcessWatch alone(getpid());
  alone.Look();
  EXPECT_LE(alone.peak().resident_bytes, kMostOther);
  WholeProcessWatch watch(getpid(), &*group);
  watch.Look();
  EXPECT_GE(watch.peak().resident_bytes, kHeld);
  EXPECT_GE(watch.peak().parts.kernel_bytes, kHeld);
  EndAll();  // The group can only be removed then.
  EXPECT_LE(std::abs(watch.peak().unexplained_bytes()), kHeld / 100);
}

TEST_F(WholeProcessWatchTest, TheMarkOfAGroupSeesWhatNoLookSaw) {
  const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create();
  if (!group.ok()) GTEST_SKIP() << "NOT TESTED: " << group.status();
  WholeProcessWatch watch(getpid(), &*group);
  Start([&group] {
    Join(*group);
    const int file = memfd_create("held", 0);
    const std::vector<char> bytes(kHeldBytes, 1);
    (void)!write(file, bytes.data(), bytes.size());
    close(file);
  });
  watch.LookAtGroup();
  EndAll();
  // The bytes are those of the vector and of the file.
  EXPECT_GE(watch.peak().resident_bytes, 2 * kHeld);
  EXPECT_LE(watch.peak().resident_bytes, 2 * kHeld + kMostOther);
}

constexpr size_t kArrayBytes = size_t{4} << 20;
char static_array[kArrayBytes];

TEST_F(WholeProcessWatchTest, ThePartsExplainTheWhole) {
  Start([] {
    Touch(Map());
    for (size_t i = 0; i < kArrayBytes; i += 4096) {
      static_cast<volatile char*>(static_array)[i] = 1;
    }
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  const WholeProcessPeak& peak = watch.peak();
  EXPECT_GE(peak.parts.heap_and_mapping_bytes, kHeld);
  EXPECT_GE(peak.parts.image_bytes, static_cast<int64_t>(kArrayBytes));
  EXPECT_GT(peak.parts.stack_bytes, 0);
  EXPECT_EQ(peak.parts.other_process_bytes, 0);
  EXPECT_LE(std::abs(peak.unexplained_bytes()), peak.resident_bytes / 1000);
}

TEST_F(WholeProcessWatchTest, OtherProcessesAreAPart) {
  Start([] { Touch(Map()); });
  Start([] { Touch(Map()); });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().parts.heap_and_mapping_bytes, kHeld);
  // Code that both share counts for the first one.
  EXPECT_GE(watch.peak().parts.other_process_bytes, kHeld - kHeld / 50);
  EXPECT_LE(watch.peak().parts.other_process_bytes, kHeld + kMostOther);
}

TEST_F(WholeProcessWatchTest, TheUnexplainedCameAndWentBetweenTwoLooks) {
  Start([] {
    char* const bytes = Map();
    Touch(bytes);
    munmap(bytes, kHeldBytes);
  });
  WholeProcessWatch watch(getpid());
  watch.Look();
  EXPECT_GE(watch.peak().unexplained_bytes(), kHeld - kMostOther);
}

TEST_F(WholeProcessWatchTest, AMarkOfOneThatEndedIsKept) {
  WholeProcessWatch watch(getpid());
  watch.NoteEnded(5'000'000);
  watch.NoteEnded(4'000'000);
  EXPECT_EQ(watch.peak().resident_bytes, 5'000'000);
}

}  // namespace
}  // namespace footprint
