#include "footprint/memo/load_meter.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "footprint/base/memory/jemalloc_controls.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

// A size class of jemalloc, so that the usable bytes equal the requested ones.
constexpr int64_t kBlockBytes = 16 << 20;

std::unique_ptr<char[]> MakeBlock() {
  return std::make_unique<char[]>(kBlockBytes);
}

// A mapping whose pages are never touched, unmapped at the end.
class Mapping {
 public:
  explicit Mapping(size_t bytes, int protection = PROT_READ | PROT_WRITE)
      : bytes_(bytes),
        begin_(mmap(nullptr, bytes, protection,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    EXPECT_NE(begin_, MAP_FAILED);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(begin_, bytes_); }

  char* begin() const { return static_cast<char*>(begin_); }

 private:
  const size_t bytes_;
  void* const begin_;
};

// A joined thread remains in the kernel's list for a moment.
void WaitUntilAlone() {
  struct stat threads;
  do {
    ASSERT_EQ(stat("/proc/self/task", &threads), 0);
  } while (threads.st_nlink > 3);
}

TEST(LoadMeterTest, MeasuresWhatIsLeftToTheByte) {
  LoadMeter meter;
  const std::unique_ptr<char[]> left = MakeBlock();
  MakeBlock();  // This is freed at once, so it does not remain.
  const LoadedBytes loaded = meter.Stop();
  EXPECT_TRUE(loaded.is_measured);
  EXPECT_EQ(loaded.doubt, nullptr);
  EXPECT_EQ(loaded.bytes, kBlockBytes);
  EXPECT_EQ(loaded.mapped_bytes, 0);
  EXPECT_EQ(loaded.taken_bytes, 2 * kBlockBytes);
  EXPECT_EQ(loaded.cross_check, CrossCheck::kAgrees);
}

TEST(LoadMeterTest, ReservedAddressesBeyondTheMachinesMemoryDoNotCount) {
  struct sysinfo machine = {};
  ASSERT_EQ(sysinfo(&machine), 0);
  const size_t machine_bytes =
      (machine.totalram + machine.totalswap) * machine.mem_unit;
  constexpr int64_t kTouchedBytes = 8 << 20;
  LoadMeter meter;
  const Mapping reserved(4 * machine_bytes);
  std::memset(reserved.begin(), 1, kTouchedBytes);
  const LoadedBytes loaded = meter.Stop();
  EXPECT_NE(loaded.doubt, nullptr);
  EXPECT_GE(loaded.bytes, kTouchedBytes);
  EXPECT_LE(loaded.bytes, kTouchedBytes + (4 << 20));
  EXPECT_EQ(loaded.resident_bytes, 0);  // not requested
}

TEST(LoadMeterTest, SmallBlocksAreExactToo) {
  LoadMeter meter;
  std::vector<std::unique_ptr<int>> left;
  for (int i = 0; i < 10'000; ++i) left.push_back(std::make_unique<int>(i));
  const LoadedBytes loaded = meter.Stop();
  EXPECT_EQ(loaded.doubt, nullptr);
  // The values have 8 bytes each, and the table has its class of 128 KiB.
  EXPECT_EQ(loaded.bytes, 10'000 * 8 + (128 << 10));
}

TEST(LoadMeterTest, ThePeakHoldsWhatWasFreedOnTheWay) {
  LoadMeter outer;
  LoadMeter meter;
  const std::unique_ptr<char[]> left = MakeBlock();
  {
    const std::unique_ptr<char[]> first = MakeBlock();
    const std::unique_ptr<char[]> second = MakeBlock();
  }
  const LoadedBytes loaded = meter.Stop();
  EXPECT_EQ(loaded.bytes, kBlockBytes);
  EXPECT_GE(loaded.peak_bytes, 3 * kBlockBytes);
  EXPECT_LE(loaded.peak_bytes, 3 * kBlockBytes + (64 << 10));
  // The outer meter has needed as much.
  const std::unique_ptr<char[]> later = MakeBlock();
  EXPECT_GE(outer.Stop().peak_bytes, 3 * kBlockBytes);
}

TEST(LoadMeterTest, WhatIsFreedIsDoubtfulAndNeverNegative) {
  std::unique_ptr<char[]> block = MakeBlock();
  LoadMeter meter;
  block.reset();
  const LoadedBytes loaded = meter.Stop();
  EXPECT_EQ(loaded.bytes, 0);
  EXPECT_NE(loaded.doubt, nullptr);
}

TEST(LoadMeterTest, CountsMappingsButNoThreadStacks) {
  LoadMeter meter;
  const Mapping mapping(kBlockBytes + 4096);
  const std::unique_ptr<char[]> block = MakeBlock();
  for (int i = 0; i < 3; ++i) {
    std::thread first([] {});
    std::thread second([] {});
    first.join();
    second.join();
  }
  const LoadedBytes loaded = meter.Stop();
  if (!StacksAreTold()) {
    EXPECT_NE(loaded.doubt, nullptr);
    EXPECT_GE(loaded.mapped_bytes, kBlockBytes + 4096);
    return;
  }
  EXPECT_EQ(loaded.mapped_bytes, kBlockBytes + 4096);
  EXPECT_GE(loaded.bytes, 2 * kBlockBytes + 4096);
  EXPECT_LE(loaded.bytes, 2 * kBlockBytes + (64 << 10));
  EXPECT_GE(loaded.peak_bytes, loaded.bytes);
}

TEST(LoadMeterTest, TakesTheExcludedOffAllFigures) {
  LoadMeter meter;
  const std::unique_ptr<char[]> mine = MakeBlock();
  const MemoryReading begin = ReadMemory();
  const std::unique_ptr<char[]> others = MakeBlock();
  std::unique_ptr<char[]> workers;
  std::thread([&] { workers = MakeBlock(); }).join();
  const Mapping mapping(kBlockBytes);
  const LoadedBytes loaded = meter.Stop(ReadMemory() - begin);
  EXPECT_EQ(loaded.bytes, kBlockBytes);
  EXPECT_EQ(loaded.doubt, nullptr);
}

TEST(LoadMeterTest, AnyByteOfAnotherThreadIsADoubt) {
  for (const size_t bytes : {size_t{16}, size_t{kBlockBytes}}) {
    std::unique_ptr<char[]> block;
    LoadMeter meter;
    std::thread([&] { block = std::make_unique<char[]>(bytes); }).join();
    const LoadedBytes loaded = meter.Stop();
    EXPECT_NE(loaded.doubt, nullptr);
    EXPECT_EQ(loaded.cross_check, CrossCheck::kDiffers);
    EXPECT_GE(loaded.bytes, static_cast<int64_t>(bytes));
  }
}

TEST(LoadMeterTest, OneWithinAnotherIsNoDoubt) {
  LoadMeter outer;
  LoadMeter inner;
  const std::unique_ptr<char[]> block = MakeBlock();
  const LoadedBytes inside = inner.Stop();
  const LoadedBytes outside = outer.Stop();
  EXPECT_EQ(inside.bytes, kBlockBytes);
  EXPECT_EQ(outside.bytes, kBlockBytes);
  EXPECT_EQ(inside.doubt, nullptr);
  EXPECT_EQ(outside.doubt, nullptr);
}

// Runs `work` on another thread while the caller's meter runs. That thread
// starts before the meter and ends after it, since its own start and end take
// memory.
template <typename Work>
LoadedBytes MeterBeside(const Work& work) {
  std::atomic<int> turn{-1};
  std::thread other([&] {
    MakeBlock();
    turn = 0;
    while (turn < 1) std::this_thread::yield();
    work();
    FlushThreadCache();
    turn = 2;
    while (turn < 3) std::this_thread::yield();
  });
  while (turn < 0) std::this_thread::yield();
  LoadMeter meter;
  turn = 1;
  while (turn < 2) std::this_thread::yield();
  const LoadedBytes loaded = meter.Stop();
  turn = 3;
  other.join();
  return loaded;
}

TEST(LoadMeterTest, AnotherMetersThreadIsNoDoubt) {
  std::unique_ptr<char[]> block = MakeBlock();
  EXPECT_EQ(MeterBeside([&] {
              const MeteredStretch metered;
              block.reset();
            }).doubt,
            nullptr);
  const LoadedBytes loaded = MeterBeside([&] {
    LoadMeter meter;
    block = MakeBlock();
    EXPECT_EQ(meter.Stop().bytes, kBlockBytes);
  });
  EXPECT_EQ(loaded.doubt, nullptr);
  EXPECT_EQ(loaded.bytes, 0);
}

TEST(LoadMeterTest, AMappingBesideAnotherMeterIsADoubt) {
  std::unique_ptr<Mapping> mapping;
  EXPECT_NE(MeterBeside([&] {
              LoadMeter meter;
              mapping = std::make_unique<Mapping>(kBlockBytes);
            }).doubt,
            nullptr);
}

// The other thread takes nothing from the heap.
TEST(LoadMeterTest, WhatAnotherThreadMapsOrUnmapsIsADoubt) {
  void* theirs = nullptr;
  EXPECT_NE(MeterBeside([&] {
              theirs = mmap(nullptr, kBlockBytes, PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            }).doubt,
            nullptr);
  ASSERT_NE(theirs, MAP_FAILED);
  EXPECT_NE(MeterBeside([&] { munmap(theirs, kBlockBytes); }).doubt, nullptr);
  const LoadedBytes loaded = MeterBeside([] {});
  EXPECT_EQ(loaded.doubt, nullptr);
}

TEST(LoadMeterTest, AMappingOfTheOnlyThreadIsCertain) {
  WaitUntilAlone();
  LoadMeter meter;
  const Mapping mapping(kBlockBytes);
  const LoadedBytes loaded = meter.Stop();
  // Otherwise the mapping may be the stack of a thread of an earlier test.
  if (StacksAreTold()) {
    EXPECT_EQ(loaded.doubt, nullptr);
  }
  EXPECT_EQ(loaded.bytes, kBlockBytes);
}

TEST(LoadMeterTest, CountsNoPagesThatNobodyMayTouch) {
  WaitUntilAlone();
  {
    LoadMeter meter;
    const Mapping mapping(kBlockBytes);
    ASSERT_EQ(mprotect(mapping.begin(), 4096, PROT_NONE), 0);
    ASSERT_EQ(mprotect(mapping.begin() + kBlockBytes - 4096, 4096, PROT_NONE),
              0);
    EXPECT_EQ(meter.Stop().mapped_bytes, kBlockBytes - 2 * 4096);
  }
  LoadMeter meter;
  const Mapping mapping(int64_t{64} << 30, PROT_NONE);
  EXPECT_EQ(meter.Stop().mapped_bytes, 0);
}

// The thread's stack is not of the default size, and nothing distinguishes it
// from a mapping.
TEST(LoadMeterTest, AThreadThatGoesOnIsADoubt) {
  WaitUntilAlone();
  static std::atomic<bool> may_end{false};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 20);
  pthread_t thread;
  LoadMeter meter;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void*) -> void* {
                  while (!may_end) sched_yield();
                  return nullptr;
                },
                nullptr),
            0);
  EXPECT_NE(meter.Stop().doubt, nullptr);
  may_end = true;
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// glibc keeps the ended thread's stack for the next one.
TEST(LoadMeterTest, AThreadThatHasEndedIsADoubt) {
  WaitUntilAlone();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32 << 20);
  pthread_t thread;
  LoadMeter meter;
  ASSERT_EQ(pthread_create(
                &thread, &attributes, [](void*) -> void* { return nullptr; },
                nullptr),
            0);
  pthread_join(thread, nullptr);
  WaitUntilAlone();
  EXPECT_NE(meter.Stop().doubt, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(LoadMeterTest, OneThatWasNotStoppedIsInNobodysWay) {
  { LoadMeter forgotten; }
  LoadMeter meter;
  const std::unique_ptr<char[]> block = MakeBlock();
  EXPECT_EQ(meter.Stop().cross_check, CrossCheck::kAgrees);
}

TEST(MemoryReadingTest, AddsAndSubtractsEveryFigure) {
  MemoryReading one;
  one.thread_bytes = 1;
  one.thread_allocated_bytes = 2;
  one.heap_bytes = 3;
  one.metered_bytes = 4;
  one.mapped_bytes = 5;
  one.resident_bytes = 6;
  one.inaccessible_count = 7;
  MemoryReading sum = one;
  sum += one;
  const MemoryReading back = sum - one;
  using Figure = int64_t MemoryReading::*;
  int64_t expected = 0;
  for (const Figure figure :
       {&MemoryReading::thread_bytes, &MemoryReading::thread_allocated_bytes,
        &MemoryReading::heap_bytes, &MemoryReading::metered_bytes,
        &MemoryReading::mapped_bytes, &MemoryReading::resident_bytes,
        &MemoryReading::inaccessible_count}) {
    ++expected;
    EXPECT_EQ(sum.*figure, 2 * expected);
    EXPECT_EQ(back.*figure, expected);
  }
}

TEST(LoadMeterTest, ResidentBytesAreCountedOnRequest) {
  EXPECT_EQ(LoadMeter().Stop().resident_bytes, 0);
  CountResidentBytes(ResidentCount::kTouched);
  LoadMeter meter;
  { std::vector<char> passing(32 << 20, 1); }
  const std::unique_ptr<char[]> untouched(new char[64 << 20]);
  const std::vector<char> written(16 << 20, 1);
  const LoadedBytes loaded = meter.Stop();
  EXPECT_GE(loaded.resident_bytes, 16 << 20);
  EXPECT_LE(loaded.resident_bytes, 18 << 20);
  EXPECT_GE(loaded.bytes, 80 << 20);
  // Heap memory that is not touched yet counts, since it will be.
  CountResidentBytes(ResidentCount::kTouchedOrOnHeap);
  LoadMeter second;
  const std::unique_ptr<char[]> later(new char[64 << 20]);
  const LoadedBytes reserved = second.Stop();
  CountResidentBytes(ResidentCount::kNone);
  EXPECT_GE(reserved.resident_bytes, 64 << 20);
  EXPECT_FALSE(ResidentBytesAreCounted());
}

}  // namespace
}  // namespace footprint::memo_internal
