// Compiled twice: with exact_heap, and with exact_heap_with_requested_bytes,
// which must count the same usable bytes.

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/opaque_block.h"
#include "footprint/profiling/heap/process_counters.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(EntryPointsTest, MappedBytesAreCountedApart) {
  const HeapPhase phase = BeginHeapPhase();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* first =
      mmap(nullptr, 10 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(first, MAP_FAILED);
  munmap(first, 4 * page);
  void* second = mmap(nullptr, 2 * page - 1, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  second = mremap(second, 2 * page, 7 * page, MREMAP_MAYMOVE);
  ASSERT_NE(second, MAP_FAILED);
  munmap(second, 7 * page);
  munmap(static_cast<char*>(first) + 4 * page, 6 * page);
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.peak_mapped_net_bytes, static_cast<int64_t>(13 * page));
  EXPECT_EQ(bytes.peak_live_net_bytes, 0);
}

// The old range stays mapped, without its pages.
TEST(EntryPointsTest, AMappingThatIsMovedAndKeptCountsTwice) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const HeapPhase phase = BeginHeapPhase();
  void* first =
      mmap(nullptr, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(first, MAP_FAILED);
  void* second = mremap(first, 3 * page, 3 * page,
                        MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  ASSERT_NE(second, MAP_FAILED) << "needs Linux 5.7 or newer";
  EXPECT_EQ(ReadHeapPhase(phase).peak_mapped_net_bytes,
            static_cast<int64_t>(6 * page));
  // Moves it to a chosen address, over a page that is mapped.
  void* third = mremap(second, 3 * page, 3 * page,
                       MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, first);
  ASSERT_EQ(third, first);
  munmap(first, 3 * page);
  munmap(second, 3 * page);
  // Every byte is subtracted again: a later mapping raises the mark only by its
  // own bytes.
  void* fourth =
      mmap(nullptr, 7 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(fourth, 7 * page);
  EXPECT_EQ(EndHeapPhase(phase).peak_mapped_net_bytes,
            static_cast<int64_t>(7 * page));
}

char* MapPages(size_t count) {
  void* const pages =
      mmap(nullptr, count * static_cast<size_t>(sysconf(_SC_PAGESIZE)),
           PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<char*>(pages);
}

void UnmapPages(char* pages, size_t count) {
  munmap(pages, count * static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

char* volatile page_of_handler = nullptr;

void MapThreePagesAndKeepOne(int) {
  char* const pages = MapPages(3);
  UnmapPages(pages + sysconf(_SC_PAGESIZE), 2);
  page_of_handler = pages;
}

TEST(EntryPointsTest, ASignalHandlerMapsWhileItsThreadHoldsTheCountersLock) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  ASSERT_NE(signal(SIGUSR1, MapThreePagesAndKeepOne), SIG_ERR);
  const HeapPhase phase = BeginHeapPhase();
  {
    const profiling_internal::ProcessLock lock;
    raise(SIGUSR1);
  }
  // The thread's next call counts the handler's.
  UnmapPages(page_of_handler, 1);
  EXPECT_EQ(ReadHeapPhase(phase).peak_mapped_net_bytes, 3 * page);
  // Every byte is subtracted again.
  UnmapPages(MapPages(7), 7);
  EXPECT_EQ(EndHeapPhase(phase).peak_mapped_net_bytes, 7 * page);
}

// The handler has one page mapped, and the test another.
TEST(EntryPointsTest, ASignalHandlerMapsAtAnyMoment) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const auto map_and_unmap = [](int) { UnmapPages(MapPages(1), 1); };
  ASSERT_NE(signal(SIGALRM, map_and_unmap), SIG_ERR);
  const HeapPhase phase = BeginHeapPhase();
  const itimerval often = {{0, 50}, {0, 50}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  for (int i = 0; i < 20000; ++i) {
    map_and_unmap(0);
    ReadHeapPhase(phase);
  }
  const itimerval never = {};
  ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
  EXPECT_LE(ReadHeapPhase(phase).peak_mapped_net_bytes, 2 * page);
  UnmapPages(MapPages(7), 7);
  EXPECT_EQ(EndHeapPhase(phase).peak_mapped_net_bytes, 7 * page);
}

TEST(EntryPointsTest, OutOfMemoryIsReportedAndNotCounted) {
  const HeapPhase phase = BeginHeapPhase();
  // The compiler does not know the value.
  volatile size_t too_much = SIZE_MAX / 4;
  EXPECT_EQ(Opaque(std::malloc(too_much)), nullptr);
  EXPECT_EQ(Opaque(std::calloc(too_much, 8)), nullptr);
  EXPECT_EQ(Opaque(::operator new(too_much, std::nothrow)), nullptr);
  void* block = Opaque(std::malloc(64));
  // gcc takes a block for freed after realloc.
  void* same_block = Opaque(block);
  EXPECT_EQ(Opaque(std::realloc(block, too_much)), nullptr);
  std::free(same_block);
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.peak_live_net_bytes, 64);
  EXPECT_THROW(Opaque(::operator new(too_much)), std::bad_alloc);
}

// A product or a rounding that wraps around must not end as a small block.
TEST(EntryPointsTest, SizesThatOverflowAreOutOfMemory) {
  // The compiler does not know the value.
  volatile size_t half = SIZE_MAX / 2 + 1;
  volatile size_t all = SIZE_MAX;
  const HeapPhase phase = BeginHeapPhase();
  errno = 0;
  EXPECT_EQ(Opaque(reallocarray(nullptr, half, 2)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(Opaque(calloc(half, 2)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(Opaque(pvalloc(all)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.peak_live_net_bytes, 0);
  EXPECT_EQ(bytes.net_growth_bytes, 0);
}

// ComputeBudget (heap_counters.h) relies on this.
TEST(EntryPointsTest, ABlockIsAtMostAQuarterAndSixteenBytesLargerThanAskedFor) {
  for (size_t size = 0; size < (size_t{64} << 20); size += 1 + size / 1000) {
    for (const size_t asked : {size, size + 1}) {
      void* block = Opaque(std::malloc(asked));
      EXPECT_LE(malloc_usable_size(block), (asked + 13) * 5 / 4) << asked;
      std::free(block);
    }
  }
}

// Every function that allocates makes a check that is due.
TEST(EntryPointsTest, AllCallsCountAgainstOnePeak) {
  const HeapPhase phase = BeginHeapPhase();
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  const auto hold = [&](void* block) {
    live_bytes += static_cast<int64_t>(malloc_usable_size(block));
    peak_bytes = std::max(peak_bytes, live_bytes);
    return block;
  };
  const auto drop = [&](void* block) {
    live_bytes -= static_cast<int64_t>(malloc_usable_size(block));
    std::free(block);
  };
  for (size_t size = 1; size < 20000; size = size * 5 / 4 + 1) {
    void* first = hold(Opaque(std::malloc(size)));
    void* second = hold(Opaque(std::calloc(size, 3)));
    drop(first);
    first = hold(Opaque(std::calloc(3, size)));
    drop(second);
    second = hold(Opaque(::operator new(size + 100)));
    live_bytes -= static_cast<int64_t>(malloc_usable_size(second));
    ::operator delete(second, size + 100);
    drop(first);
  }
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.peak_live_net_bytes, peak_bytes);
  EXPECT_EQ(bytes.net_growth_bytes, 0);
}

TEST(EntryPointsTest, OperatorNewAsksTheHandler) {
  static int calls = 0;
  std::set_new_handler([] {
    if (++calls == 3) std::set_new_handler(nullptr);
  });
  EXPECT_EQ(::operator new(SIZE_MAX / 4, std::nothrow), nullptr);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace footprint
