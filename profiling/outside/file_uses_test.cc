// Tests what file_uses.h promises.

#include "footprint/profiling/outside/file_uses.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <future>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr size_t kBytes = size_t{8} << 20;
constexpr int64_t kHeld = kBytes;

void Touch(void* memory, size_t size = kBytes) {
  volatile char* const bytes = static_cast<char*>(memory);
  for (size_t i = 0; i < size; i += 4096) bytes[i] = 1;
}

void* Share(int file) {
  return mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

int MakeFile() {
  const int file = memfd_create("held", 0);
  (void)!ftruncate(file, kHeld);
  return file;
}

// Counts the files of this process.
FilePages Count() {
  return FileUses({getpid()}, {getpid()}, {}, {}).CountPages();
}

TEST(FileUsesTest, AFileOfWhichOnePageIsMappedCountsWhole) {
  const FilePages before = Count();
  const int file = MakeFile();
  void* const bytes = Share(file);
  Touch(bytes);
  munmap(bytes, kBytes);
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  (void)*static_cast<volatile char*>(page);
  EXPECT_EQ(Count().unmapped_bytes - before.unmapped_bytes, kHeld - 4096);
  munmap(page, 4096);
  close(file);
  EXPECT_EQ(Count().unmapped_bytes, before.unmapped_bytes);
}

TEST(FileUsesTest, AFileThatIsMappedFourTimesCountsOnce) {
  const FilePages before = Count();
  const int file = MakeFile();
  void* bytes[4];
  for (void*& mapped : bytes) Touch(mapped = Share(file));
  const FilePages pages = Count();
  EXPECT_EQ(pages.repeated_shared_bytes - before.repeated_shared_bytes,
            3 * kHeld);
  EXPECT_EQ(pages.repeated_file_bytes, before.repeated_file_bytes);
  EXPECT_EQ(pages.unmapped_bytes, before.unmapped_bytes);
  for (void* mapped : bytes) munmap(mapped, kBytes);
  close(file);
}

TEST(FileUsesTest, AFileOfADiskCountsItsRepeatedPages) {
  std::string path = testing::TempDir() + "/mapped.XXXXXX";
  const int file = mkstemp(&path[0]);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, kHeld), 0);
  const FilePages before = Count();
  void* const first = Share(file);
  void* const second = Share(file);
  Touch(first);
  Touch(second, kBytes / 2);
  const FilePages pages = Count();
  // Files of a temporary folder in memory also count.
  EXPECT_EQ(pages.repeated_file_bytes + pages.repeated_shared_bytes -
                before.repeated_file_bytes - before.repeated_shared_bytes,
            kHeld / 2);
  munmap(first, kBytes);
  munmap(second, kBytes);
  close(file);
  unlink(path.c_str());
}

TEST(FileUsesTest, AFileOfAThreadWithItsOwnTableIsSeen) {
  const FilePages before = Count();
  std::promise<void> is_open;
  std::promise<void> is_over;
  std::thread thread([&] {
    EXPECT_EQ(unshare(CLONE_FILES), 0);
    const int file = MakeFile();
    void* const bytes = Share(file);
    Touch(bytes);
    munmap(bytes, kBytes);
    is_open.set_value();
    is_over.get_future().wait();
  });
  is_open.get_future().wait();
  EXPECT_EQ(Count().unmapped_bytes - before.unmapped_bytes, kHeld);
  is_over.set_value();
  thread.join();
}

TEST(FileUsesTest, SharedMemoryThatWasGivenBackStays) {
  if (geteuid() != 0) GTEST_SKIP() << "NOT TESTED: needs root";
  const FilePages before = Count();
  void* const bytes = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Touch(bytes);
  madvise(bytes, kBytes, MADV_DONTNEED);
  EXPECT_EQ(Count().unmapped_bytes - before.unmapped_bytes, kHeld);
  munmap(bytes, kBytes);
}

TEST(FileUsesTest, ASegmentCountsWhole) {
  const int segment = shmget(IPC_PRIVATE, kBytes, 0600);
  if (segment < 0) GTEST_SKIP() << "NOT TESTED: no System V shared memory";
  void* const bytes = shmat(segment, nullptr, 0);
  shmctl(segment, IPC_RMID, nullptr);
  const FilePages before = Count();
  Touch(bytes);
  EXPECT_EQ(Count().unmapped_bytes, before.unmapped_bytes);
  madvise(bytes, kBytes, MADV_DONTNEED);
  EXPECT_EQ(Count().unmapped_bytes - before.unmapped_bytes, kHeld);
  shmdt(bytes);
}

// Returns whether a segment that is given back counts as a whole, in a new
// namespace, where the first segment has the ID 0.
bool FirstSegmentCountsWhole() {
  const int segment = shmget(IPC_PRIVATE, kBytes, 0600);
  if (segment != 0) return false;
  void* const bytes = shmat(segment, nullptr, 0);
  shmctl(segment, IPC_RMID, nullptr);
  const int64_t before = Count().unmapped_bytes;
  Touch(bytes);
  madvise(bytes, kBytes, MADV_DONTNEED);
  return Count().unmapped_bytes - before == kHeld;
}

TEST(FileUsesTest, TheFirstSegmentOfANamespaceCountsWhole) {
  constexpr int kNoNamespace = 2;
  const int child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (unshare(CLONE_NEWIPC) != 0 &&
        unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0) {
      _exit(kNoNamespace);
    }
    _exit(FirstSegmentCountsWhole() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespace) {
    GTEST_SKIP() << "NOT TESTED: no namespace for System V segments";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(FileUsesTest, AFileThatWasThereBeforeCountsWhereItIsMapped) {
  std::string path = "/dev/shm/file_uses_test.XXXXXX";
  const int file = mkstemp(&path[0]);
  if (file < 0) GTEST_SKIP() << "NOT TESTED: no /dev/shm";
  ASSERT_EQ(posix_fallocate(file, 0, kHeld), 0);
  const timespec ever = {};
  timespec later = {};
  clock_gettime(CLOCK_REALTIME, &later);
  ++later.tv_sec;
  const auto count = [](const timespec& begin) {
    return FileUses({getpid()}, {getpid()}, {}, begin)
        .CountPages()
        .unmapped_bytes;
  };
  const int64_t whole_bytes = count(ever);
  const int64_t mapped_bytes = count(later);
  close(file);
  unlink(path.c_str());
  EXPECT_EQ(whole_bytes - mapped_bytes, kHeld);
}

}  // namespace
}  // namespace footprint
