#include "footprint/profiling/resident/resident_set.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr char kMappings[] =
    "00400000-00402000 r-xp 00000000 08:01 7    /usr/bin/prog ram\n"
    "Size:                  8 kB\n"
    "Rss:                   8 kB\n"
    "Pss:                   4 kB\n"
    "Swap:                  0 kB\n"
    "00402000-00403000 rw-p 00002000 08:01 7    /usr/bin/prog ram\n"
    "Rss:                   4 kB\n"
    "Pss:                   4 kB\n"
    "Anonymous:             4 kB\n"
    "00403000-00405000 rw-p 00000000 00:00 0 \n"
    "Rss:                   8 kB\n"
    "Pss:                   8 kB\n"
    "01000000-01001000 rw-p 00000000 00:00 0    [heap]\n"
    "Rss:                   4 kB\n"
    "Swap:                 12 kB\n"
    "10000000-10010000 rw-p 00000000 00:00 0 \n"
    "Rss:                  40 kB\n"
    "20000000-20001000 ---p 00000000 00:00 0 \n"
    "Rss:                   0 kB\n"
    "20001000-20009000 rw-p 00000000 00:00 0 \n"
    "Rss:                  16 kB\n"
    "30000000-30001000 r--s 00000000 08:01 9    /data/rows.csv\n"
    "Rss:                   4 kB\n"
    "31000000-31001000 rw-s 00000000 00:05 9    /dev/shm/queue\n"
    "Rss:                   4 kB\n"
    "32000000-32001000 rw-s 00000000 08:01 10   /tmp/memprof-1/7.0.record\n"
    "Rss:                   4 kB\n"
    "7ff00000-7ff10000 rw-p 00000000 00:00 0    [stack]\n"
    "Rss:                  20 kB\n"
    "7ff20000-7ff21000 r-xp 00000000 00:00 0    [vdso]\n"
    "Rss:                   4 kB\n";

TEST(ResidentSetTest, PutsEachMappingDownToOnePart) {
  const ResidentSet parts =
      ClassifyMappings(kMappings, {{{0x10000000, 0x10008000}}, {}},
                       "/tmp/memprof-1", [](AddressRange range) {
                         EXPECT_EQ(range.begin, 0x10000000u);
                         EXPECT_EQ(range.end, 0x10008000u);
                         return int64_t{24} << 10;
                       });
  EXPECT_EQ(parts.image_bytes, 20 << 10);
  // The heap is "[heap]" and the part of the anonymous mapping that the program
  // did not map.
  EXPECT_EQ(parts.heap_bytes, 20 << 10);
  EXPECT_EQ(parts.mapped_bytes, 24 << 10);
  EXPECT_EQ(parts.stack_bytes, 36 << 10);
  EXPECT_EQ(parts.file_bytes, 4 << 10);
  EXPECT_EQ(parts.shared_bytes, 4 << 10);
  EXPECT_EQ(parts.agent_bytes, 4 << 10);
  EXPECT_EQ(parts.other_bytes, 4 << 10);
  EXPECT_EQ(parts.explained_bytes(), 116 << 10);
  EXPECT_EQ(parts.swapped_bytes, 12 << 10);
  // The program has written to one of its three pages.
  EXPECT_EQ(parts.anonymous_bytes, 12 << 10);
  ASSERT_EQ(parts.files.size(), 2u);
  const ResidentFile& data = parts.files.at("/data/rows.csv");
  EXPECT_EQ(data.bytes, 4 << 10);
  EXPECT_EQ(data.device, "08:01");
  EXPECT_EQ(data.held_bytes, 0);
  const ResidentFile& program = parts.files.at("/usr/bin/prog ram");
  EXPECT_EQ(program.bytes, 8 << 10);
  EXPECT_EQ(program.held_bytes, 8 << 10) << "it has code";
}

TEST(ResidentSetTest, LockedAndDirtyPagesAreHeld) {
  const ResidentSet parts = ClassifyMappings(
      "30000000-30002000 r--s 00000000 08:01 9    /model\n"
      "Rss:                   8 kB\n"
      "Locked:                8 kB\n"
      "30002000-30004000 r--s 00002000 08:01 9    /model\n"
      "Rss:                   8 kB\n"
      "Locked:                0 kB\n"
      "40000000-40008000 rw-s 00000000 08:01 10   /shared\n"
      "Rss:                  32 kB\n"
      "Shared_Dirty:          8 kB\n"
      "Private_Dirty:         4 kB\n"
      "40008000-40009000 r--s 00008000 08:01 10   /shared\n"
      "Rss:                   4 kB\n"
      "Shared_Dirty:          4 kB\n"
      "50000000-50008000 rw-p 00000000 08:01 11   /private\n"
      "Rss:                  32 kB\n"
      "Private_Dirty:        20 kB\n"
      "Anonymous:            20 kB\n",
      {}, "/tmp/memprof-1", [](AddressRange) { return int64_t{0}; });
  EXPECT_EQ(parts.files.at("/model").bytes, 16 << 10);
  EXPECT_EQ(parts.files.at("/model").held_bytes, 8 << 10);
  EXPECT_EQ(parts.files.at("/shared").bytes, 36 << 10);
  EXPECT_EQ(parts.files.at("/shared").held_bytes, 12 << 10);
  EXPECT_EQ(parts.files.at("/private").bytes, 12 << 10);
  EXPECT_EQ(parts.files.at("/private").held_bytes, 0);
}

TEST(ResidentSetTest, OnlyWhatAdjoinsAnImageIsItsZeroedData) {
  const auto parts_with = [](absl::string_view next) {
    return ClassifyMappings(
        absl::StrCat("00400000-00402000 r-xp 00000000 08:01 7    /usr/bin/p\n",
                     next, " rw-p 00000000 00:00 0 \nRss:    8 kB\n"),
        {}, "/tmp/memprof-1", [](AddressRange) { return int64_t{0}; });
  };
  EXPECT_EQ(parts_with("00402000-00404000").image_bytes, 8 << 10);
  EXPECT_EQ(parts_with("00403000-00405000").image_bytes, 0);
  EXPECT_EQ(parts_with("00403000-00405000").heap_bytes, 8 << 10);
}

// Arenas of glibc lie one below the other, each with its reserve above it.
TEST(ResidentSetTest, AnArenaIsNoStack) {
  const auto parts_with = [](absl::string_view next) {
    return ClassifyMappings(
        absl::StrCat("7f0000100000-7f0004000000 ---p 00000000 00:00 0 \n", next,
                     " rw-p 00000000 00:00 0 \nRss:    8 kB\n"),
        {}, "/tmp/memprof-1", [](AddressRange) { return int64_t{0}; });
  };
  EXPECT_EQ(parts_with("7f0004000000-7f0004021000").heap_bytes, 8 << 10);
  EXPECT_EQ(parts_with("7f0004000000-7f0004021000").stack_bytes, 0);
}

TEST(ResidentSetTest, AnonymousMemoryMayHaveAName) {
  const ResidentSet parts = ClassifyMappings(
      "10000000-10010000 rw-p 00000000 00:00 0    [anon:tables]\n"
      "Rss:                  40 kB\n",
      {{{0x10000000, 0x10010000}}, {}}, "/tmp/memprof-1",
      [](AddressRange) { return int64_t{0}; });
  EXPECT_EQ(parts.mapped_bytes, 40 << 10);
  EXPECT_EQ(parts.other_bytes, 0);
}

TEST(ResidentSetTest, TakesAWholeMappingOfTheProgramsWithoutLookingAtPages) {
  const ResidentSet parts =
      ClassifyMappings(kMappings, {{{0x10000000, 0x10010000}}, {}}, "/nowhere",
                       [](AddressRange) -> int64_t {
                         ADD_FAILURE() << "the list tells it";
                         return 0;
                       });
  EXPECT_EQ(parts.mapped_bytes, 40 << 10);
  EXPECT_EQ(parts.heap_bytes, 4 << 10);
}

TEST(ResidentSetTest, PassesOverWhatIsNoMapping) {
  const ResidentSet parts =
      ClassifyMappings("Rss: 4 kB\nnonsense\n-\n\n0-zz rw-p 0 0:0 0\n", {}, "/",
                       [](AddressRange) { return int64_t{0}; });
  EXPECT_EQ(parts.explained_bytes(), 0);
}

constexpr size_t kBlockBytes = size_t{64} << 20;

// Measures this process before and after `grow`.
ResidentSet Grown(const KnownRanges& ranges,
                  const std::function<void()>& grow) {
  const absl::StatusOr<ResidentSet> before =
      ReadResidentSet(getpid(), ranges, "/nowhere");
  EXPECT_THAT(before.status(), IsOk());
  grow();
  absl::StatusOr<ResidentSet> after =
      ReadResidentSet(getpid(), ranges, "/nowhere");
  EXPECT_THAT(after.status(), IsOk());
  after->heap_bytes -= before->heap_bytes;
  after->mapped_bytes -= before->mapped_bytes;
  after->shared_bytes -= before->shared_bytes;
  after->agent_bytes -= before->agent_bytes;
  after->anonymous_bytes -= before->anonymous_bytes;
  after->minor_fault_count -= before->minor_fault_count;
  return *after;
}

void* Map(size_t bytes, int flags) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1,
              0);
}

TEST(ResidentSetTest, SeesTouchedPagesOnly) {
  void* const block = Map(kBlockBytes, MAP_PRIVATE);
  ASSERT_NE(block, MAP_FAILED);
  madvise(block, kBlockBytes, MADV_NOHUGEPAGE);
  const ResidentSet grown =
      Grown({}, [&] { std::memset(block, 1, kBlockBytes / 2); });
  EXPECT_NEAR(grown.heap_bytes, kBlockBytes / 2, 1 << 20);
  EXPECT_NEAR(grown.unexplained_bytes, 0, 1 << 20);
  EXPECT_GE(grown.minor_fault_count, 8192);
  munmap(block, kBlockBytes);
}

TEST(ResidentSetTest, TellsTheProgramsHalfOfOneMapping) {
  void* const block = Map(kBlockBytes, MAP_PRIVATE);
  ASSERT_NE(block, MAP_FAILED);
  const auto begin = reinterpret_cast<uint64_t>(block);
  const ResidentSet grown = Grown({{{begin, begin + kBlockBytes / 2}}, {}},
                                  [&] { std::memset(block, 1, kBlockBytes); });
  EXPECT_EQ(grown.mapped_bytes, kBlockBytes / 2);
  EXPECT_NEAR(grown.heap_bytes, kBlockBytes / 2, 1 << 20);
  munmap(block, kBlockBytes);
}

TEST(ResidentSetTest, TheAgentsTablesAreNotTheProgramsMemory) {
  void* const block = Map(kBlockBytes, MAP_PRIVATE);
  ASSERT_NE(block, MAP_FAILED);
  const auto begin = reinterpret_cast<uint64_t>(block);
  const ResidentSet grown = Grown({{}, {{begin, begin + kBlockBytes / 4}}},
                                  [&] { std::memset(block, 1, kBlockBytes); });
  EXPECT_EQ(grown.agent_bytes, kBlockBytes / 4);
  EXPECT_NEAR(grown.heap_bytes, kBlockBytes / 4 * 3, 1 << 20);
  EXPECT_NEAR(grown.anonymous_bytes, kBlockBytes / 4 * 3, 1 << 20);
  munmap(block, kBlockBytes);
}

TEST(ResidentSetTest, TellsSharedMemory) {
  void* const block = Map(kBlockBytes, MAP_SHARED);
  ASSERT_NE(block, MAP_FAILED);
  const ResidentSet grown =
      Grown({}, [&] { std::memset(block, 1, kBlockBytes); });
  EXPECT_NEAR(grown.shared_bytes, kBlockBytes, 1 << 20);
  munmap(block, kBlockBytes);
}

// By proc(5), the faults of children that were waited for stand between them.
TEST(ResidentSetTest, FaultsAreTheProcessesOwn) {
  ResidentSet parts;
  ParseFaults("71 (a) 9 (b c) R 1 2 3 4 5 6 700 800 900 1000 11 12 13\n",
              &parts);
  EXPECT_EQ(parts.minor_fault_count, 700);
  EXPECT_EQ(parts.major_fault_count, 900);
  ParseFaults("71 (a) R 1 2", &parts);
  EXPECT_EQ(parts.major_fault_count, 900);
}

TEST(ResidentSetTest, TellsThatAProcessHasEnded) {
  // The ID is above the highest that Linux assigns.
  EXPECT_THAT(ReadResidentSet(1 << 23, {}, "/nowhere").status(),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
