// The next allocator of this program is one of its own. A process searches
// once, so each case is a process.

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cstdint>
#include <exception>

#include "footprint/profiling/malloc/next_allocator.h"
#include "gtest/gtest.h"

namespace {

using UsableSizeFunction = size_t (*)(void*);

constexpr size_t kPage = 4096;
constexpr size_t kPages = 16;
// Behind a page that cannot be read.
char* next_block = nullptr;
void* (*malloc_of_test)(size_t) = nullptr;
UsableSizeFunction usable_size_of_test = nullptr;
bool allocates_in_search = false;
void* early_block = nullptr;

void* MallocWithoutHeaders(size_t size) {
  char* const block = next_block;
  next_block += (size + 15) & ~size_t{15};
  return block;
}
void FreeNothing(void*) {}
void* MallocOfCLibrary(size_t size) { return malloc(size); }

size_t NoSizeYet(void*) { return 0; }
size_t SizeOfAnyBlock(void*) { return 1000; }

}  // namespace

// Replaces the C library's dlsym.
extern "C" void* dlsym(void* handle, const char* name) {
  using footprint::profiling_internal::next_allocator;
  static auto* const next = reinterpret_cast<void* (*)(void*, const char*)>(
      dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  if (handle == RTLD_NEXT && malloc_of_test != nullptr) {
    if (allocates_in_search && early_block == nullptr) {
      early_block = next_allocator.malloc(200);
    }
    if (strcmp(name, "malloc") == 0) {
      return reinterpret_cast<void*>(malloc_of_test);
    }
    if (strcmp(name, "free") == 0) {
      return reinterpret_cast<void*>(FreeNothing);
    }
    if (strcmp(name, "malloc_usable_size") == 0 &&
        usable_size_of_test != nullptr) {
      return reinterpret_cast<void*>(usable_size_of_test);
    }
  }
  return next(handle, name);
}

namespace footprint::profiling_internal {
namespace {

// Ends the process with 0 if the allocator can be counted, and 1 if not.
void Search(void* (*malloc)(size_t), UsableSizeFunction usable_size) {
  malloc_of_test = malloc;
  usable_size_of_test = usable_size;
  FindNextAllocator();
  FindHowToCountAgain();
  _exit(next_allocator.can_be_counted ? 0 : 1);
}

class StrangeAllocatorDeathTest : public testing::Test {
 protected:
  StrangeAllocatorDeathTest() {
    char* const pages = static_cast<char*>(
        mmap(nullptr, (1 + kPages) * kPage, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(pages, kPage, PROT_NONE);
    next_block = pages + kPage;
  }
};

TEST_F(StrangeAllocatorDeathTest, AHeaderThatIsTextIsNotFollowed) {
  memset(MallocWithoutHeaders(32), 'a', 32);
  EXPECT_EXIT(Search(MallocWithoutHeaders, nullptr), testing::ExitedWithCode(1),
              "");
}

TEST_F(StrangeAllocatorDeathTest, AHeaderThatCannotBeReadIsNotRead) {
  EXPECT_EXIT(Search(MallocWithoutHeaders, nullptr), testing::ExitedWithCode(1),
              "");
}

TEST_F(StrangeAllocatorDeathTest, TheCLibrarysBlocksCountBehindAnotherMalloc) {
  EXPECT_EXIT(Search(MallocOfCLibrary, nullptr), testing::ExitedWithCode(0),
              "");
}

TEST_F(StrangeAllocatorDeathTest, ItsOwnFunctionIsAsked) {
  EXPECT_EXIT(Search(MallocWithoutHeaders, SizeOfAnyBlock),
              testing::ExitedWithCode(0), "");
}

// Others end the program, as this one does.
TEST_F(StrangeAllocatorDeathTest, AThirdObjectsFunctionIsNotAsked) {
  EXPECT_EXIT(Search(MallocWithoutHeaders,
                     reinterpret_cast<UsableSizeFunction>(std::terminate)),
              testing::ExitedWithCode(1), "");
}

TEST_F(StrangeAllocatorDeathTest, EarlyBlocksKeepTheirSizeIfSizesAreToldLater) {
  EXPECT_EXIT(
      {
        allocates_in_search = true;
        malloc_of_test = MallocWithoutHeaders;
        usable_size_of_test = NoSizeYet;
        FindNextAllocator();
        if (next_allocator.can_be_counted || early_block == nullptr) _exit(1);
        usable_size_of_test = SizeOfAnyBlock;
        FindHowToCountAgain();
        if (!next_allocator.can_be_counted) _exit(2);
        if (UsableSize(early_block) != 208) _exit(3);
        _exit(UsableSize(next_allocator.malloc(10)) == 1000 ? 0 : 4);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace footprint::profiling_internal
