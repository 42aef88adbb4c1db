#include "footprint/memo/memo_core.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeindex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

// The call of operator new on this thread that fails, counted from now; 0:
// none.
thread_local int news_until_failure = 0;

}  // namespace

// If a compiler inlined one of these, it would report a mismatched pair.
__attribute__((noinline)) void* operator new(size_t size) {
  const bool fails = news_until_failure > 0 && --news_until_failure == 0;
  void* const block = fails ? nullptr : std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
__attribute__((noinline)) void operator delete(void* block) noexcept {
  std::free(block);
}
__attribute__((noinline)) void operator delete(void* block, size_t) noexcept {
  std::free(block);
}

namespace footprint::memo_internal {
namespace {

using ::testing::Not;

constexpr AfterEviction kKeep = AfterEviction::kKeepFreeMemory;
struct Other {};

// A memo whose value is the address of one of its own members.
class FakeMemo final : public MemoCore {
 public:
  using Callback = std::function<absl::Status()>;

  FakeMemo(const std::string& name, Callback on_load,
           int64_t declared_bytes = 0, std::type_index type = typeid(int))
      : MemoCore(name, type, {declared_bytes, 0, ""}),
        on_load_(std::move(on_load)) {}
  ~FakeMemo() override { DestroyLast(); }

  absl::StatusOr<const void*> Acquire() {
    const void* value = TryAcquire();
    if (value != nullptr) return value;
    return AcquireSlowly();
  }
  const void* value() const { return &value_; }
  Callback on_destroy = [] { return absl::OkStatus(); };

 private:
  absl::StatusOr<const void*> Load() override {
    absl::Status status = on_load_();
    if (!status.ok()) return status;
    return &value_;
  }
  void Destroy(const void*) override { on_destroy().IgnoreError(); }

  Callback on_load_;
  int value_ = 0;
};

std::shared_ptr<FakeMemo> MakeFake(
    const std::string& name,
    FakeMemo::Callback on_load = [] { return absl::OkStatus(); },
    int64_t declared_bytes = 0) {
  auto memo =
      std::make_shared<FakeMemo>(name, std::move(on_load), declared_bytes);
  EXPECT_THAT(AddMemo(memo), IsOk());
  return memo;
}

TEST(MemoCoreTest, AFactoryCannotEvictItsOwnMemo) {
  FakeMemo* self = nullptr;
  absl::Status evicted;
  auto memo = MakeFake("self", [&] {
    evicted = self->Evict(kKeep);
    return absl::OkStatus();
  });
  self = memo.get();
  ASSERT_THAT(memo->Acquire(), IsOk());
  memo->Release();
  EXPECT_THAT(evicted, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(evicted.message(),
            "memo \"self\" is being loaded; evict it when that is done");
}

TEST(MemoCoreTest, AnEvictionDoesNotWaitForAnother) {
  auto memo = MakeFake("twice");
  absl::Status second;
  memo->on_destroy = [&] {
    // This runs on another thread, which would hang if it waited.
    std::thread([&] { second = memo->Evict(kKeep); }).join();
    return absl::OkStatus();
  };
  ASSERT_THAT(memo->Acquire(), IsOk());
  memo->Release();
  EXPECT_THAT(memo->Evict(kKeep), IsOk());
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(second.message(),
            "memo \"twice\" is being evicted; evict it when that is done");
  EXPECT_EQ(memo->statistics().eviction_count, 1);
  memo->on_destroy = [] { return absl::OkStatus(); };
}

TEST(MemoCoreTest, AnErrorKeepsItsCodeAndPayloadAndIsNotCached) {
  int load_count = 0;
  auto memo = MakeFake("remote", [&] {
    if (++load_count > 1) return absl::OkStatus();
    absl::Status status = absl::UnavailableError("no route");
    status.SetPayload("cause", absl::Cord("cable"));
    return status;
  });
  const absl::Status failed = memo->Acquire().status();
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(failed.message(), "memo \"remote\": no route");
  ASSERT_TRUE(failed.GetPayload("cause").has_value());
  EXPECT_EQ(*failed.GetPayload("cause"), absl::Cord("cable"));
  EXPECT_FALSE(memo->statistics().is_loaded);
  ASSERT_THAT(memo->Acquire(), IsOk());
  memo->Release();
  EXPECT_TRUE(memo->statistics().is_loaded);
  EXPECT_EQ(memo->statistics().load_count, 1);
  EXPECT_EQ(memo->statistics().failed_load_count, 1);
}

TEST(MemoCoreTest, APinnedMemoStaysAndKeepsItsValue) {
  auto memo = MakeFake("pinned");
  ASSERT_THAT(memo->Acquire(), IsOk());
  EXPECT_THAT(memo->Evict(kKeep),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(memo->TryAcquire(), memo->value());
  memo->Release();
  memo->Release();
  EXPECT_THAT(memo->Evict(kKeep), IsOk());
  EXPECT_EQ(memo->TryAcquire(), nullptr);
}

TEST(MemoCoreDeathTest, APinnedMemoIsNotDestroyed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto memo = MakeFake("gone");
        (void)memo->Acquire().ok();
        memo.reset();
      },
      "memo \"gone\" is destroyed while it is pinned");
}

TEST(MemoCoreTest, CountsHitsApartFromLoadsAndMisses) {
  auto memo = MakeFake("counted");
  for (int i = 0; i < 4; ++i) {
    ASSERT_THAT(memo->Acquire(), IsOk());
    memo->Release();
  }
  EXPECT_EQ(memo->statistics().load_count, 1);
  EXPECT_EQ(memo->statistics().hit_count, 3);
}

TEST(MemoCoreTest, TotalsFollowLoadsAndEvictions) {
  const MemoTotals before = ReadMemoTotals();
  auto memo = MakeFake(
      "total", [] { return absl::OkStatus(); }, 1000);
  ASSERT_THAT(memo->Acquire(), IsOk());
  memo->Release();
  EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kDeclared);
  EXPECT_EQ(ReadMemoTotals().live_bytes, before.live_bytes + 1000);
  EXPECT_EQ(ReadMemoTotals().loaded_count, before.loaded_count + 1);
  ASSERT_THAT(memo->Evict(kKeep), IsOk());
  EXPECT_EQ(ReadMemoTotals().live_bytes, before.live_bytes);
  EXPECT_EQ(ReadMemoTotals().loaded_count, before.loaded_count);
  EXPECT_GE(ReadMemoTotals().peak_bytes, before.live_bytes + 1000);
  EXPECT_EQ(memo->statistics().live_bytes, 0);
  EXPECT_EQ(memo->statistics().peak_bytes, 1000);
}

// Returns whether the load ran out of memory when it entered its value.
bool FailsToEnter(FakeMemo& memo) {
  const absl::Status status = memo.Acquire().status();
  news_until_failure = 0;
  if (status.ok()) {
    memo.Release();
    return false;
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_FALSE(memo.statistics().is_loaded);
  return true;
}

// The table of values grows from time to time, which may run out of memory.
TEST(MemoCoreTest, TheTableOfValuesIsWholeWhereAnEntryFoundNoMemory) {
  std::vector<std::shared_ptr<FakeMemo>> memos;
  int failed_count = 0;
  int destroyed_count = 0;
  for (int i = 0; i < 100; ++i) {
    int load_count = 0;
    // An entry fails first at its first allocation, then at its second.
    memos.push_back(MakeFake(absl::StrCat("entered", i), [&load_count] {
      news_until_failure = ++load_count <= 2 ? load_count : 0;
      return absl::OkStatus();
    }));
    memos.back()->on_destroy = [&destroyed_count] {
      ++destroyed_count;
      return absl::OkStatus();
    };
    while (FailsToEnter(*memos.back())) ++failed_count;
    for (const std::shared_ptr<FakeMemo>& memo : memos) {
      ASSERT_THAT(FindMemoByValue(memo->value(), typeid(int)),
                  IsOkAndHolds(memo));
    }
  }
  EXPECT_GT(failed_count, 0);
  EXPECT_EQ(destroyed_count, failed_count);
}

TEST(MemoCoreTest, TheTableOfNamesIsWholeWhereAnEntryFoundNoMemory) {
  std::vector<std::shared_ptr<FakeMemo>> memos;
  int failed_count = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string name = absl::StrCat("a memo of a long name ", i);
    memos.push_back(
        std::make_shared<FakeMemo>(name, [] { return absl::OkStatus(); }));
    for (int news = 1; news <= 3; ++news) {
      news_until_failure = news;
      try {
        AddMemo(memos.back()).IgnoreError();
      } catch (const std::bad_alloc&) {
        ++failed_count;
      }
      news_until_failure = 0;
    }
    // This adds the memo unless it already has the name.
    AddMemo(memos.back()).IgnoreError();
    for (const std::shared_ptr<FakeMemo>& memo : memos) {
      ASSERT_THAT(FindMemoByName(memo->name(), typeid(int)),
                  IsOkAndHolds(memo));
    }
  }
  EXPECT_GT(failed_count, 0);
}

TEST(MemoCoreTest, LoadedMemosAreListedByName) {
  std::vector<std::shared_ptr<FakeMemo>> memos;
  for (const char* name : {"list_c", "list_a", "list_d", "list_b"}) {
    memos.push_back(MakeFake(name));
    ASSERT_THAT(memos.back()->Acquire(), IsOk());
    memos.back()->Release();
  }
  std::vector<std::string> names;
  for (const MemoStatistics& loaded : ListLoadedMemos()) {
    names.push_back(loaded.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"list_a", "list_b", "list_c", "list_d"}));
}

TEST(MemoCoreTest, AValueIsFoundByAddressAndTypeWhileItLives) {
  auto memo = MakeFake("found");
  EXPECT_THAT(FindMemoByValue(memo->value(), typeid(int)), Not(IsOk()));
  ASSERT_THAT(memo->Acquire(), IsOk());
  memo->Release();
  EXPECT_EQ(*FindMemoByValue(memo->value(), typeid(int)), memo);
  EXPECT_THAT(FindMemoByValue(memo->value(), typeid(std::vector<Other>)),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(memo->Evict(kKeep), IsOk());
  EXPECT_THAT(FindMemoByValue(memo->value(), typeid(int)), Not(IsOk()));
}

TEST(MemoCoreTest, ANameBelongsToOneTypeUntilItsMemoEnds) {
  auto memo = MakeFake("name");
  // Counts a Memo, which needs the core.
  memo->AddMemo();
  const auto other = [] {
    return std::make_shared<FakeMemo>(
        "name", [] { return absl::OkStatus(); }, 0, typeid(std::vector<Other>));
  };
  const absl::Status refused = AddMemo(other());
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(
      refused.message(),
      "memo \"name\" exists with type int, not with type "
      "std::vector<footprint::memo_internal::(anonymous "
      "namespace)::Other, std::allocator<footprint::memo_internal::("
      "anonymous namespace)::Other> >; ask for that type, or take another "
      "name");
  // The refused memo must not have freed the name.
  EXPECT_THAT(AddMemo(other()), Not(IsOk()));
  memo.reset();
  EXPECT_THAT(AddMemo(other()), IsOk());
}

TEST(MemoCoreTest, ClearEvictsTheRestAndNamesWhatIsInUse) {
  auto held = MakeFake("held");
  auto also_held = MakeFake("also held");
  auto free = MakeFake("free");
  for (const auto& memo : {held, also_held, free}) {
    ASSERT_THAT(memo->Acquire(), IsOk());
  }
  free->Release();
  EXPECT_EQ(ClearMemos(kKeep).message(),
            "in use and therefore not cleared: also held, held");
  EXPECT_FALSE(free->statistics().is_loaded);
  held->Release();
  also_held->Release();
  EXPECT_THAT(ClearMemos(kKeep), IsOk());
}

// Its memo is empty then, and not in use.
TEST(MemoCoreTest, ClearingTellsOfADestructorThatThrows) {
  const auto held = MakeFake("held by a handle");
  for (const bool is_held : {false, true}) {
    auto first = MakeFake("first to throw");
    auto second = MakeFake("second to throw");
    for (const auto& memo : {first, second}) {
      memo->on_destroy = []() -> absl::Status {
        throw std::runtime_error("no disk");
      };
      ASSERT_THAT(memo->Acquire(), IsOk());
      memo->Release();
    }
    if (is_held) {
      ASSERT_THAT(held->Acquire(), IsOk());
    }
    const absl::Status status = ClearMemos(kKeep);
    const std::string message(status.message());
    EXPECT_EQ(status.code(), is_held ? absl::StatusCode::kFailedPrecondition
                                     : absl::StatusCode::kInternal);
    EXPECT_EQ(absl::StrContains(message,
                                "in use and therefore not cleared: held by a "
                                "handle"),
              is_held);
    EXPECT_EQ(absl::StrContains(message, "not cleared"), is_held) << message;
    for (const auto& memo : {first, second}) {
      EXPECT_FALSE(memo->statistics().is_loaded);
      EXPECT_THAT(message,
                  testing::HasSubstr(absl::StrCat(
                      "memo \"", memo->name(),
                      "\": the destructor of its value threw: no disk")));
    }
    EXPECT_EQ(ReadMemoTotals().live_bytes, 0);
    if (is_held) held->Release();
    EXPECT_THAT(ClearMemos(kKeep), IsOk());
  }
}

TEST(MemoCoreTest, WhoComesDuringAnEvictionWaitsAndLoadsAnew) {
  auto memo = MakeFake("anew");
  std::atomic<bool> is_destroyed{false};
  bool was_destroyed_first = false;
  std::thread reader;
  memo->on_destroy = [&] {
    std::atomic<bool> has_begun{false};
    reader =
        std::thread([&memo, &has_begun, &is_destroyed, &was_destroyed_first] {
          has_begun = true;
          ASSERT_THAT(memo->Acquire(), IsOk());
          was_destroyed_first = is_destroyed.load();
          memo->Release();
        });
    while (!has_begun) std::this_thread::yield();
    is_destroyed = true;
    return absl::OkStatus();
  };
  ASSERT_THAT(memo->Acquire(), IsOk());
  memo->Release();
  EXPECT_THAT(memo->Evict(kKeep), IsOk());
  reader.join();
  EXPECT_TRUE(was_destroyed_first);
  EXPECT_EQ(memo->statistics().load_count, 2);
  memo->on_destroy = [] { return absl::OkStatus(); };
}

}  // namespace
}  // namespace footprint::memo_internal
