#include "footprint/memo/memo.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

constexpr AfterEviction kKeep = AfterEviction::kKeepFreeMemory;

static_assert(!std::is_copy_constructible_v<Handle<int>>);
static_assert(std::is_nothrow_move_constructible_v<Handle<int>>);

struct Abstract {
  virtual ~Abstract() = default;
  virtual int Size() const = 0;
};
struct Immovable {
  Immovable(Immovable&&) = delete;
};
static_assert(memo_internal::IsMemoValue<int>());
static_assert(memo_internal::IsMemoValue<std::unique_ptr<Abstract>>());
static_assert(!memo_internal::IsMemoValue<const int>());
static_assert(!memo_internal::IsMemoValue<int&>());
static_assert(!memo_internal::IsMemoValue<int[4]>());
static_assert(!memo_internal::IsMemoValue<Abstract>());
static_assert(!memo_internal::IsMemoValue<Immovable>());

Memo<int> MakeInt(const std::string& name,
                  absl::AnyInvocable<absl::StatusOr<int>()> factory) {
  return *MakeMemo<int>(name, std::move(factory));
}

bool Contains(const absl::Status& status, const std::string& part) {
  return std::string(status.message()).find(part) != std::string::npos;
}

TEST(MemoTest, LoadsOncePinsAndEvicts) {
  int load_count = 0;
  Memo<int> memo = MakeInt("answer", [&] { return 41 + ++load_count; });
  EXPECT_EQ(load_count, 0);
  {
    auto handle = memo.Get();
    auto again = memo.Get();
    EXPECT_EQ(**handle, 42);
    EXPECT_EQ(handle->get(), again->get());
    EXPECT_EQ(handle->memo(), memo);
    EXPECT_EQ(*GetMemoByValue(**handle), memo);
    const absl::Status pinned = memo.Evict();
    EXPECT_THAT(pinned, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_TRUE(Contains(pinned, "answer"));
    EXPECT_TRUE(Contains(ClearMemos(), "answer"));
    EXPECT_EQ(**memo.Get(), 42);
  }
  EXPECT_EQ(memo.statistics().hit_count, 2);
  EXPECT_THAT(memo.Evict(), IsOk());
  EXPECT_THAT(memo.Evict(), IsOk());
  EXPECT_EQ(**memo.Get(), 43);
  EXPECT_EQ(memo.statistics().load_count, 2);
  EXPECT_EQ(memo.statistics().eviction_count, 1);
  EXPECT_EQ(ReadMemoTotals().loaded_count, 1);
  EXPECT_THAT(ClearMemos(), IsOk());
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

TEST(MemoTest, AMovedHandlePinsOnce) {
  Memo<int> memo = MakeInt("moved", [] { return 1; });
  Handle<int> first = *memo.Get();
  Handle<int> second = std::move(first);
  second = *memo.Get();
  EXPECT_THAT(memo.Evict(), Not(IsOk()));
  std::thread([&] { Handle<int> last = std::move(second); }).join();
  EXPECT_THAT(memo.Evict(), IsOk());
}

TEST(MemoTest, AColdStampedeLoadsOnce) {
  std::atomic<int> load_count{0};
  Memo<int> memo = MakeInt("stampede", [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return load_count.fetch_add(1);
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong_count{0};
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      auto handle = memo.Get();
      if (!handle.ok() || **handle != 0) ++wrong_count;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(load_count, 1);
  EXPECT_EQ(wrong_count, 0);
}

TEST(MemoTest, AllWaitersGetTheErrorAndTheNextCallTriesAgain) {
  std::atomic<int> load_count{0};
  std::atomic<int> arrived_count{0};
  Memo<int> memo = MakeInt("missing", [&]() -> absl::StatusOr<int> {
    const int load = load_count.fetch_add(1);
    if (load > 0) return 7;
    while (arrived_count.load() < 8) std::this_thread::yield();
    // The threads that have arrived still need time to begin to wait.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return absl::NotFoundError("no file");
  });
  std::vector<std::thread> threads;
  std::atomic<int> not_found_count{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ++arrived_count;
      auto handle = memo.Get();
      if (handle.status().message() == "memo \"missing\": no file") {
        ++not_found_count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(not_found_count, 8);
  EXPECT_EQ(**memo.Get(), 7);
  EXPECT_EQ(memo.statistics().failed_load_count, 1);
}

TEST(MemoTest, WhatFactoriesDoWrongIsAnError) {
  Memo<int> thrower = MakeInt("thrower", []() -> absl::StatusOr<int> {
    throw std::runtime_error("bad weather");
  });
  EXPECT_TRUE(Contains(thrower.Get().status(), "bad weather"));
  Memo<int> odd = MakeInt("odd", []() -> absl::StatusOr<int> { throw 3; });
  EXPECT_THAT(odd.Get(), StatusIs(absl::StatusCode::kInternal));
  Memo<int> huge =
      MakeInt("huge", []() -> absl::StatusOr<int> { throw std::bad_alloc(); });
  EXPECT_THAT(huge.Get(), StatusIs(absl::StatusCode::kResourceExhausted));
  auto null = MakeMemo<std::unique_ptr<int>>(
      "null", [] { return absl::StatusOr<std::unique_ptr<int>>(nullptr); });
  EXPECT_TRUE(Contains(null->Get().status(), "null"));
  auto shared = MakeMemo<std::shared_ptr<int>>(
      "shared", [] { return absl::StatusOr<std::shared_ptr<int>>(nullptr); });
  EXPECT_THAT(shared->Get(), StatusIs(absl::StatusCode::kInternal));
}

// Runs in a process of its own, with 256 MiB of address space and a factory
// that needs four times as much.
[[noreturn]] void RunOutOfMemory() {
  Memo<std::vector<char>> small = *MakeMemo<std::vector<char>>(
      "small", [] { return std::vector<char>(1 << 20); });
  Memo<std::vector<char>> large = *MakeMemo<std::vector<char>>(
      "large", [] { return std::vector<char>(size_t{1} << 30); });
  const rlimit limit = {256 << 20, 256 << 20};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(1);
  const absl::Status status = large.Get().status();
  if (status.code() != absl::StatusCode::kResourceExhausted) std::exit(2);
  if (!Contains(status, "memo \"large\": the factory ran out of memory")) {
    std::exit(3);
  }
  if (large.statistics().failed_load_count != 1) std::exit(4);
  std::exit(small.Get().ok() ? 0 : 5);
}

TEST(MemoDeathTest, RunningOutOfMemoryIsAnErrorAndOthersStillLoad) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // Sanitizers need terabytes of addresses, so the limit cannot be set.
  GTEST_SKIP() << "address space cannot be limited under this sanitizer";
#endif
  EXPECT_EXIT(RunOutOfMemory(), testing::ExitedWithCode(0), "");
}

TEST(MemoTest, CreationRefusesWhatCannotWork) {
  Memo<int> memo = MakeInt("taken", [] { return 1; });
  auto other = MakeMemo<double>("taken", [] { return 1.0; });
  EXPECT_THAT(other, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(Contains(other.status(), "type int,"));
  EXPECT_TRUE(Contains(other.status(), "type double;"));
  const absl::Status second = MakeMemo<int>("taken", [] { return 2; }).status();
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_TRUE(Contains(second, "taken"));
  EXPECT_EQ(*FindMemo<int>("taken"), memo);
  EXPECT_THAT(FindMemo<double>("taken"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(FindMemo<int>("absent"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(MakeMemo<int>("", [] { return 1; }), Not(IsOk()));
  EXPECT_THAT(MakeMemo<int>("null", nullptr), Not(IsOk()));
  EXPECT_THAT(MakeMemo<int>(
                  "less", [] { return 1; }, -1),
              Not(IsOk()));
  EXPECT_THAT(MakeMemo<int>(
                  "more", [] { return 1; }, INT64_MAX),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MakeMemo<int>(
                  "most", [] { return 1; }, kMostDeclaredBytes),
              IsOk());
}

TEST(MemoTest, ANameIsFreeWhenItsMemoHasEnded) {
  {
    MakeInt("again", [] { return 1; });
  }
  EXPECT_THAT(MakeMemo<double>("again", [] { return 1.0; }), IsOk());
}

TEST(MemoTest, GetMemoByValueKnowsNoCopies) {
  Memo<int> memo = MakeInt("original", [] { return 1; });
  auto handle = memo.Get();
  const int copy = **handle;
  EXPECT_THAT(GetMemoByValue(copy), StatusIs(absl::StatusCode::kNotFound));
}

TEST(MemoTest, AMemoThatCallsItselfIsACycle) {
  Memo<int>* self = nullptr;
  Memo<int> memo = MakeInt(
      "self", [&]() -> absl::StatusOr<int> { return self->Get().status(); });
  self = &memo;
  EXPECT_TRUE(Contains(memo.Get().status(), "self -> self"));
}

TEST(MemoTest, ACycleAcrossThreadsNamesItsPath) {
  std::atomic<int> inside_count{0};
  std::vector<Memo<int>> memos;
  for (int i = 0; i < 3; ++i) {
    memos.push_back(
        MakeInt("c" + std::to_string(i), [&, i]() -> absl::StatusOr<int> {
          ++inside_count;
          while (inside_count.load() < 3) std::this_thread::yield();
          return memos[(i + 1) % 3].Get().status();
        }));
  }
  std::vector<absl::Status> statuses(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] { statuses[i] = memos[i].Get().status(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(Contains(status, "c0 -> c1") && Contains(status, "c1 -> c2") &&
                Contains(status, "c2 -> c0"))
        << status;
  }
}

// Tells when it is destroyed.
struct Ending {
  explicit Ending(bool* has_ended) : has_ended(has_ended) {}
  Ending(Ending&& other) noexcept
      : has_ended(std::exchange(other.has_ended, nullptr)) {}
  ~Ending() {
    if (has_ended != nullptr) *has_ended = true;
  }
  bool* has_ended;
};

TEST(MemoTest, AHandleMayOutliveTheLastMemo) {
  bool has_ended = false;
  const auto make = [&] {
    return MakeMemo<Ending>("gone", [&] { return Ending(&has_ended); });
  };
  {
    absl::StatusOr<Handle<Ending>> handle = make()->Get();
    ASSERT_THAT(handle, IsOk());
    EXPECT_FALSE(has_ended);
    // The memo keeps its name until then, and is found again.
    {
      const Memo<Ending> again = handle->memo();
      EXPECT_EQ(again.name(), "gone");
      EXPECT_THAT(again.Get(), IsOk());
      EXPECT_EQ(again.statistics().load_count, 1u);
    }
    EXPECT_TRUE(Contains(ClearMemos(kKeep), "gone"));
    MakeInt("another", [] { return 1; });
    EXPECT_FALSE(has_ended);
  }
  MakeInt("another", [] { return 1; });
  EXPECT_TRUE(has_ended);
  EXPECT_THAT(MakeMemo<double>("gone", [] { return 1.0; }), IsOk());
}

// Twice the size of a thread's stack.
struct Large {
  char bytes[16 << 20];
};

TEST(MemoTest, AValueMayBeLargerThanTheStack) {
  const auto memo = MakeMemo<Large>("large", [] {
    absl::StatusOr<Large> value;
    value.emplace();
    return value;
  });
  bool is_loaded = false;
  std::thread([&] { is_loaded = memo->Get().ok(); }).join();
  EXPECT_TRUE(is_loaded);
  EXPECT_THAT(memo->Evict(), IsOk());
}

// A value that owns another memo, and uses memos while it is destroyed.
struct Owner {
  explicit Owner(const Memo<int>& memo) : memo(memo) {}
  ~Owner() { (void)memo.Get().ok(); }
  Memo<int> memo;
};

TEST(MemoTest, DestructorsMayUseMemos) {
  auto memo = MakeMemo<std::unique_ptr<Owner>>("owner", [] {
    return absl::StatusOr<std::unique_ptr<Owner>>(
        std::make_unique<Owner>(MakeInt("owned", [] { return 1; })));
  });
  ASSERT_THAT(memo->Get(), IsOk());
  EXPECT_THAT(memo->Evict(), IsOk());
}

// A value that holds a handle to another memo pins that memo until the value
// ends.
TEST(MemoTest, ClearingReachesWhatValuesHold) {
  std::vector<Memo<int>> inner;
  std::vector<Memo<std::unique_ptr<Handle<int>>>> outer;
  for (int i = 0; i < 8; ++i) {
    inner.push_back(MakeInt("held" + std::to_string(i), [] { return 1; }));
    outer.push_back(*MakeMemo<std::unique_ptr<Handle<int>>>(
        "holder" + std::to_string(i),
        [memo = inner.back()]() mutable
        -> absl::StatusOr<std::unique_ptr<Handle<int>>> {
          absl::StatusOr<Handle<int>> handle = memo.Get();
          if (!handle.ok()) return handle.status();
          return std::make_unique<Handle<int>>(*std::move(handle));
        }));
    ASSERT_THAT(outer.back().Get(), IsOk());
  }
  EXPECT_THAT(ClearMemos(kKeep), IsOk());
  for (const Memo<int>& memo : inner) {
    EXPECT_FALSE(memo.statistics().is_loaded);
  }
}

TEST(MemoTest, TheTimeOfLoadsIsSummedUp) {
  Memo<int> memo = MakeInt("slow", [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 1;
  });
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(memo.Get(), IsOk());
    ASSERT_THAT(memo.Evict(kKeep), IsOk());
  }
  EXPECT_GE(memo.statistics().load_nanoseconds, 4'000'000);
}

TEST(MemoTest, WithoutJemallocBytesAreTheDeclaredOnes) {
  auto memo = MakeMemo<int>(
      "declared", [] { return 1; }, 1000);
  ASSERT_THAT(memo->Get(), IsOk());
  EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kDeclared);
  EXPECT_EQ(memo->statistics().live_bytes, 1000);
}

// Its two numbers match only while it lives.
struct Checked {
  explicit Checked(uint64_t number)
      : first(number),
        second(~number),
        held(std::make_unique<uint64_t>(number)) {}
  Checked(Checked&& other) noexcept = default;
  // The write is volatile, or an optimiser removes it as nobody may read it.
  ~Checked() { *const_cast<volatile uint64_t*>(&first) = 0; }
  uint64_t first;
  uint64_t second;
  // This is on the heap, where a sanitizer sees a use after the eviction.
  std::unique_ptr<uint64_t> held;
};

TEST(MemoTest, ReadersEvictorsAndFailingLoadsSeeOnlyLivingValues) {
  std::atomic<uint64_t> load_count{0};
  auto memo = MakeMemo<Checked>("stress", [&]() -> absl::StatusOr<Checked> {
    const uint64_t number = ++load_count;
    if (number % 5 == 0) return absl::UnavailableError("every fifth");
    return Checked(number);
  });
  std::atomic<bool> stop{false};
  std::atomic<int> bad_count{0};
  std::atomic<uint64_t> error_count{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int read = 1; !stop.load(std::memory_order_relaxed); ++read) {
        // Without these pauses, some reader would hold a handle at every
        // moment.
        if (read % 64 == 0) {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        auto handle = memo->Get();
        if (!handle.ok()) {
          ++error_count;
          continue;
        }
        auto nested = memo->Get();
        if (!nested.ok() || nested->get() != handle->get() ||
            (*handle)->first != ~(*handle)->second ||
            *(*handle)->held != (*handle)->first) {
          ++bad_count;
        }
      }
    });
  }
  uint64_t evicted_count = 0;
  threads.emplace_back([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      if (memo->Evict(kKeep).ok()) ++evicted_count;
      std::this_thread::yield();
    }
  });
  std::this_thread::sleep_for(std::chrono::seconds(2));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad_count, 0);
  EXPECT_GT(evicted_count, 0);
  EXPECT_GT(error_count, 0);
  const MemoStatistics statistics = memo->statistics();
  EXPECT_EQ(statistics.load_count + statistics.failed_load_count, load_count);
}

// A value that counts itself, of any size and alignment.
template <size_t kBytes, size_t kAlignment>
struct alignas(kAlignment) Counted {
  Counted() { ++alive; }
  Counted(Counted&& other) noexcept : number(other.number) { ++alive; }
  ~Counted() { --alive; }

  int number = 7;
  char rest[kBytes] = {};
  static inline int alive = 0;
};

template <typename T>
class MemoOfSizeTest : public testing::Test {};
// These lie within the memo, exactly at the limit, and in an allocated block.
using SizedTypes =
    testing::Types<Counted<1, 4>, Counted<1, 128>, Counted<4088, 8>,
                   Counted<4089, 8>, Counted<100000, 128>>;
TYPED_TEST_SUITE(MemoOfSizeTest, SizedTypes);

TYPED_TEST(MemoOfSizeTest, KeepsItsValueAlignedAndDestroysItOnce) {
  auto memo = MakeMemo<TypeParam>("sized", [] { return TypeParam(); });
  ASSERT_THAT(memo, IsOk());
  for (int i = 0; i < 2; ++i) {
    {
      auto handle = memo->Get();
      ASSERT_THAT(handle, IsOk());
      EXPECT_EQ((*handle)->number, 7);
      EXPECT_EQ(TypeParam::alive, 1);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(handle->get()) % alignof(TypeParam),
                0u);
      EXPECT_EQ(handle->memo(), *memo);
      auto found = GetMemoByValue(**handle);
      ASSERT_THAT(found, IsOk());
      EXPECT_EQ(*found, *memo);
      EXPECT_THAT(memo->Evict(), Not(IsOk()));
    }
    ASSERT_THAT(memo->Evict(), IsOk());
    EXPECT_EQ(TypeParam::alive, 0);
  }
}

// The list must not own the memos, or their names would stay taken.
TEST(MemoTest, ANameIsFreeAtOnceThoughAnotherThreadLists) {
  std::atomic<bool> ends{false};
  std::thread lister([&] {
    while (!ends) (void)ListLoadedMemos();
  });
  int refused_count = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto memo = MakeMemo<std::vector<char>>(
        "again", [] { return std::vector<char>(9); });
    if (!memo.ok()) {
      ++refused_count;
      continue;
    }
    { EXPECT_THAT(memo->Get().status(), IsOk()); }
    EXPECT_THAT(memo->Evict(kKeep), IsOk());
  }
  ends = true;
  lister.join();
  EXPECT_EQ(refused_count, 0);
}

struct ThrowsWhenItEnds {
  bool is_moved_from = false;

  ThrowsWhenItEnds() = default;
  ThrowsWhenItEnds(ThrowsWhenItEnds&& other) noexcept {
    other.is_moved_from = true;
  }
  ~ThrowsWhenItEnds() noexcept(false) {
    if (!is_moved_from) throw std::runtime_error("no end");
  }
};

TEST(MemoTest, ADestructorThatThrowsIsAnErrorOfTheEviction) {
  const Memo<ThrowsWhenItEnds> memo =
      *MakeMemo<ThrowsWhenItEnds>("throws", [] { return ThrowsWhenItEnds(); });
  for (int i = 0; i < 2; ++i) {
    { ASSERT_THAT(memo.Get().status(), IsOk()); }
    const absl::Status evicted = memo.Evict(kKeep);
    EXPECT_THAT(evicted, StatusIs(absl::StatusCode::kInternal));
    EXPECT_TRUE(Contains(evicted, "\"throws\""));
    EXPECT_TRUE(Contains(evicted, "no end"));
    EXPECT_FALSE(memo.statistics().is_loaded);
  }
}

// Loads `depth` nested memos. Returns the status of the outermost.
absl::Status LoadNested(int depth) {
  std::vector<Memo<int>> memos;
  for (int i = 0; i < depth; ++i) {
    memos.push_back(MakeInt("nested" + std::to_string(i),
                            [&memos, i]() -> absl::StatusOr<int> {
                              if (i == 0) return 0;
                              const auto inner = memos[i - 1].Get();
                              if (!inner.ok()) return inner.status();
                              return **inner + 1;
                            }));
  }
  return memos.back().Get().status();
}

TEST(MemoTest, LoadsAreNestedUpToAThousandDeep) {
  EXPECT_THAT(LoadNested(1000), IsOk());
  EXPECT_THAT(LoadNested(1001), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(LoadNested(20000),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace footprint
