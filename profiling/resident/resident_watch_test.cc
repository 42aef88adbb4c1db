#include "footprint/profiling/resident/resident_watch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/resident/mounts.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 20;

class ResidentWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    // The kernel lists the path without "//".
    folder_ = std::filesystem::canonical(testing::TempDir()) / "watch-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    const std::string path = folder_ + "/agent.so";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(ftruncate(file, 4096), 0);
    agent_ = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    ASSERT_NE(agent_, MAP_FAILED);
    close(file);
  }
  void TearDown() override { UnmapAgent(); }

  void UnmapAgent() {
    if (agent_ != nullptr) munmap(agent_, 4096);
    agent_ = nullptr;
  }

  void AddRecord(int process_id, int image) {
    ASSERT_THAT(ReplaceFile(absl::StrCat(folder_, "/", process_id, ".", image,
                                         ".record"),
                            "", ToDisk::kNoFsync),
                IsOk());
  }

  std::string folder_;
  void* agent_ = nullptr;  // Mapped in this process and its forks.
};

void* Map(int flags) {
  void* const block = mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE,
                           flags | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(block, MAP_FAILED);
  return block;
}

// A child that has touched a block of kBlockBytes, until the end of the scope.
class OtherProcess {
 public:
  explicit OtherProcess(const void* block) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    process_id_ = fork();
    if (process_id_ == 0) {
      volatile char sum = 0;
      for (size_t i = 0; i < kBlockBytes; i += 4096) {
        sum = static_cast<char>(sum + static_cast<const char*>(block)[i]);
      }
      (void)!write(ends[1], "", 1);
      pause();
      _exit(0);
    }
    char ready = 0;
    EXPECT_EQ(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  ~OtherProcess() {
    kill(process_id_, SIGKILL);
    waitpid(process_id_, nullptr, 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  int process_id() const { return process_id_; }

 private:
  pid_t process_id_ = -1;
};

// Samples until shares may be computed again.
void LookUntilTold(ResidentWatch* watch, const std::set<int>& process_ids) {
  const SharedOnce before = watch->shared_once();
  do {
    watch->Look(process_ids);
  } while (watch->shared_once().resident_sum_bytes ==
               before.resident_sum_bytes ||
           !watch->shared_once().is_of_one_moment);
}

// Mappings that no agent assigns to the program are the heap's.
TEST_F(ResidentWatchTest, KeepsThePartsOfThePeak) {
  AddRecord(getpid(), 0);
  ResidentWatch watch(folder_);
  watch.Look({});
  ASSERT_EQ(watch.peaks().size(), 1u);
  const int64_t before_bytes = watch.peaks()[0].parts.heap_bytes;
  void* const block = Map(MAP_PRIVATE);
  std::memset(block, 1, kBlockBytes);
  watch.Look({});
  munmap(block, kBlockBytes);
  watch.Look({});
  ASSERT_EQ(watch.peaks().size(), 1u);
  EXPECT_EQ(watch.peaks()[0].process_id, getpid());
  EXPECT_NEAR(watch.peaks()[0].parts.heap_bytes - before_bytes, kBlockBytes,
              kBlockBytes / 20);
  EXPECT_GE(watch.peak_sum_bytes(), static_cast<int64_t>(kBlockBytes));
}

TEST_F(ResidentWatchTest, ThePartsOfAPeakThatStaysAreCloserToIt) {
  AddRecord(getpid(), 0);
  auto* const block = static_cast<char*>(Map(MAP_PRIVATE));
  madvise(block, kBlockBytes, MADV_NOHUGEPAGE);
  constexpr size_t kLittleBytes = kBlockBytes / 100;
  std::memset(block, 1, kBlockBytes - kLittleBytes);
  ResidentWatch watch(folder_);
  watch.Look({});
  const int64_t before_bytes = watch.peaks()[0].parts.heap_bytes;
  std::memset(block + kBlockBytes - kLittleBytes, 1, kLittleBytes);
  watch.Look({});
  EXPECT_EQ(watch.peaks()[0].parts.heap_bytes, before_bytes);
  watch.Look({});
  munmap(block, kBlockBytes);
  EXPECT_NEAR(watch.peaks()[0].parts.heap_bytes - before_bytes, kLittleBytes,
              kLittleBytes / 5);
}

TEST_F(ResidentWatchTest, KeepsTheImagesOfAProcessApart) {
  AddRecord(getpid(), 0);
  ResidentWatch watch(folder_);
  watch.Look({});
  AddRecord(getpid(), 1);
  watch.Look({});
  ASSERT_EQ(watch.peaks().size(), 2u);
  EXPECT_EQ(watch.peaks()[1].image, 1);
}

TEST_F(ResidentWatchTest, CountsWhatProcessesShareOnce) {
  void* const block = Map(MAP_SHARED);
  std::memset(block, 1, kBlockBytes);
  ResidentWatch watch(folder_);
  {
    const OtherProcess child(block);
    AddRecord(getpid(), 0);
    AddRecord(child.process_id(), 0);
    watch.Look({});
  }
  munmap(block, kBlockBytes);
  const SharedOnce once = watch.shared_once();
  EXPECT_GE(once.resident_sum_bytes, static_cast<int64_t>(2 * kBlockBytes));
  const int64_t once_bytes = once.anonymous_bytes + once.file_bytes;
  EXPECT_LE(once_bytes,
            once.resident_sum_bytes - static_cast<int64_t>(kBlockBytes));
  EXPECT_GE(once_bytes, static_cast<int64_t>(kBlockBytes));
  // Both processes share the program's own code.
  EXPECT_GT(once.file_bytes, 1 << 20);
  EXPECT_LT(2 * once.file_bytes + once.anonymous_bytes,
            once.resident_sum_bytes - static_cast<int64_t>(kBlockBytes / 2));
  EXPECT_GT(once.page_table_bytes, 0);
  EXPECT_EQ(once.kernel_stack_bytes, 2 * (16 << 10));
}

// A file that several processes map is shared like code.
TEST_F(ResidentWatchTest, CountsAFileThatProcessesShareOnce) {
  const std::string path = folder_ + "-shared";
  ASSERT_THAT(
      ReplaceFile(path, std::string(kBlockBytes, 'x'), ToDisk::kNoFsync),
      IsOk());
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const block =
      mmap(nullptr, kBlockBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  ASSERT_NE(block, MAP_FAILED);
  const OtherProcess child(block);
  AddRecord(getpid(), 0);
  AddRecord(child.process_id(), 0);
  ResidentWatch watch(folder_);
  watch.Look({});
  munmap(block, kBlockBytes);
  const SharedOnce once = watch.shared_once();
  EXPECT_GE(once.resident_sum_bytes, static_cast<int64_t>(2 * kBlockBytes));
  EXPECT_GE(once.file_bytes, static_cast<int64_t>(kBlockBytes));
  EXPECT_LT(once.file_bytes, static_cast<int64_t>(kBlockBytes * 3 / 2));
}

// The own memory after the mapping is smaller, so it is no peak of the whole.
TEST_F(ResidentWatchTest, MappedDataIsNotHeld) {
  const std::string path = folder_ + "-data";
  ASSERT_THAT(ReplaceFile(path, std::string(kBlockBytes, 'x'), ToDisk::kFlush),
              IsOk());
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(unlink(path.c_str()), 0);
  struct stat facts;
  ASSERT_EQ(fstat(file, &facts), 0);
  if (!RereadableDevices(ReadMounts())
           .Has(DeviceName(major(facts.st_dev), minor(facts.st_dev)))) {
    GTEST_SKIP() << "files of tests lie in memory here";
  }
  AddRecord(getpid(), 0);
  ResidentWatch watch(folder_);
  watch.Look({});
  const int64_t before_bytes = watch.held_once().held_bytes();
  void* const data =
      mmap(nullptr, kBlockBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  ASSERT_NE(data, MAP_FAILED);
  watch.Look({});
  munmap(data, kBlockBytes);
  EXPECT_GE(watch.shared_once().droppable_bytes,
            static_cast<int64_t>(kBlockBytes));
  EXPECT_LT(watch.held_once().held_bytes(),
            before_bytes + static_cast<int64_t>(kBlockBytes / 2));
  constexpr int64_t kOwnBytes = kBlockBytes / 2;
  void* const block = Map(MAP_PRIVATE);
  std::memset(block, 1, kOwnBytes);
  // A reading that found no new peak may have to rest first.
  for (int i = 0; i < 1000 && watch.held_once().held_bytes() <
                                  before_bytes + kOwnBytes * 9 / 10;
       ++i) {
    watch.Look({});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  munmap(block, kBlockBytes);
  EXPECT_GE(watch.held_once().held_bytes(), before_bytes + kOwnBytes * 9 / 10);
  EXPECT_LT(watch.held_once().droppable_bytes, kOwnBytes / 10);
  EXPECT_GE(watch.shared_once().file_bytes, static_cast<int64_t>(kBlockBytes));
}

TEST_F(ResidentWatchTest, AProgramWithoutTheAgentHasNoPartsOfTheRecord) {
  AddRecord(getpid(), 0);
  UnmapAgent();
  ResidentWatch watch(folder_);
  watch.Look({});
  watch.Look({});
  EXPECT_TRUE(watch.peaks().empty());
  EXPECT_GT(watch.peak_sum_bytes(), 0);
}

TEST_F(ResidentWatchTest, ProcessesWithoutARecordCountIfTheyAreNamed) {
  ResidentWatch watch(folder_);
  watch.Look({});
  EXPECT_EQ(watch.peak_sum_bytes(), 0);
  watch.Look({getpid()});
  EXPECT_GT(watch.peak_sum_bytes(), 0);
  EXPECT_GT(watch.shared_once().resident_bytes(), 0);
  EXPECT_TRUE(watch.peaks().empty());
}

// Forks that share everything have the largest sum, but need little.
TEST_F(ResidentWatchTest, ThePeakIsWhereMostIsNeededNotWhereTheSumIsLargest) {
  AddRecord(getpid(), 0);
  ResidentWatch watch(folder_);
  void* const block = Map(MAP_PRIVATE);
  std::memset(block, 1, kBlockBytes);
  {
    const OtherProcess first(block);
    const OtherProcess second(block);
    const OtherProcess third(block);
    LookUntilTold(
        &watch, {first.process_id(), second.process_id(), third.process_id()});
  }
  EXPECT_TRUE(watch.shared_once().is_of_one_moment);
  EXPECT_GE(watch.peak_sum_bytes(), static_cast<int64_t>(4 * kBlockBytes));
  const int64_t forked_bytes = watch.shared_once().resident_bytes();
  EXPECT_GE(forked_bytes, static_cast<int64_t>(kBlockBytes));
  EXPECT_LT(forked_bytes, static_cast<int64_t>(2 * kBlockBytes));
  void* const more = Map(MAP_PRIVATE);
  std::memset(more, 1, kBlockBytes);
  LookUntilTold(&watch, {});
  munmap(more, kBlockBytes);
  munmap(block, kBlockBytes);
  EXPECT_GE(watch.shared_once().resident_bytes(),
            static_cast<int64_t>(2 * kBlockBytes));
  EXPECT_LT(watch.shared_once().resident_sum_bytes, watch.peak_sum_bytes());
}

// Children that have just been forked have no record yet, and share the pages
// of the one process that has a record.
TEST_F(ResidentWatchTest, PagesSharedWithUnrecordedChildrenCountWhole) {
  AddRecord(getpid(), 0);
  ResidentWatch watch(folder_);
  void* const block = Map(MAP_PRIVATE);
  std::memset(block, 1, kBlockBytes);
  {
    const OtherProcess first(block);
    const OtherProcess second(block);
    const OtherProcess third(block);
    watch.Look({});
  }
  munmap(block, kBlockBytes);
  EXPECT_TRUE(watch.shared_once().is_of_one_moment);
  EXPECT_GE(watch.shared_once().resident_bytes(),
            static_cast<int64_t>(kBlockBytes));
}

TEST_F(ResidentWatchTest, EachThreadHasAStackOfTheKernels) {
  AddRecord(getpid(), 0);
  std::promise<void> looked;
  std::thread thread([&looked] { looked.get_future().wait(); });
  ResidentWatch watch(folder_);
  watch.Look({});
  looked.set_value();
  thread.join();
  EXPECT_EQ(watch.shared_once().kernel_stack_bytes, 2 * (16 << 10));
}

TEST_F(ResidentWatchTest, PassesOverProcessesThatHaveEnded) {
  AddRecord(1 << 23, 0);
  ResidentWatch watch(folder_);
  watch.Look({});
  EXPECT_EQ(watch.peak_sum_bytes(), 0);
  EXPECT_TRUE(watch.peaks().empty());
}

}  // namespace
}  // namespace footprint
