// Budgets with jemalloc, which measures.

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Bytes = std::vector<char>;

struct Outcome {
  int exit_status = 0;
  absl::Status status;
  MemoTrace trace;
};

class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

Outcome RunWith(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"product_bytes_test", "--benchmark_min_time=0"});
  static auto* const kept = new std::vector<std::vector<std::string>>;
  kept->push_back(std::move(flags));
  std::vector<char*> argv;
  for (std::string& flag : kept->back()) argv.push_back(&flag[0]);
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  PlannedBenchmarks planned(&argc, argv.data());
  benchmark::Initialize(&argc, argv.data());
  SilentReporter reporter;
  planned.Run(&reporter);
  return {planned.ExitStatus(), planned.status(), planned.trace()};
}

void RegisterPairs(const std::string& name, const Axis<Bytes>& models,
                   const Axis<Bytes>& data) {
  benchmark::ClearRegisteredBenchmarks();
  ASSERT_THAT(Product(
                  name,
                  [](benchmark::State& state, const Bytes&, const Bytes&) {
                    for (auto _ : state) {
                    }
                  },
                  models, data),
              IsOk());
}

Memo<Bytes> MakeBytes(const std::string& name, size_t bytes,
                      int64_t declared_bytes) {
  return *MakeMemo<Bytes>(
      name, [bytes] { return absl::StatusOr<Bytes>(Bytes(bytes, 1)); },
      declared_bytes);
}

// Makes a value with room for `capacity_bytes`, of which it touches only
// `bytes`.
Memo<Bytes> MakeRoomyBytes(const std::string& name, size_t bytes,
                           size_t capacity_bytes) {
  return *MakeMemo<Bytes>(
      name,
      [bytes, capacity_bytes] {
        Bytes roomy;
        roomy.reserve(capacity_bytes);
        roomy.resize(bytes, 1);
        return absl::StatusOr<Bytes>(std::move(roomy));
      },
      static_cast<int64_t>(bytes));
}

bool ExceedsBudget(const MemoTrace& trace) {
  return std::any_of(trace.events().begin(), trace.events().end(),
                     [](const MemoEvent& event) {
                       return event.kind() == MemoEvent::BUDGET_EXCEEDED;
                     });
}

// 54 MiB are resident and 60 MiB allocated.
TEST(ProductBytesTest, ABudgetMayCountResidentBytes) {
  RegisterPairs("BM_Resident",
                {"model", {MakeRoomyBytes("model", 36 << 20, 40 << 20)}},
                {"data", {MakeRoomyBytes("data", 18 << 20, 20 << 20)}});
  const Outcome allocated = RunWith({"--memo_budget=57MiB"});
  EXPECT_EQ(allocated.exit_status, 1);
  EXPECT_EQ(allocated.trace.peak_bytes(), 60 << 20);
  EXPECT_TRUE(ExceedsBudget(allocated.trace));
  // The values are measured now, so the plan knows that they do not fit.
  EXPECT_EQ(RunWith({"--memo_budget=57MiB"}).exit_status, 2);
  // The first run uses declared sizes, the second measured ones.
  for (int i = 0; i < 2; ++i) {
    const Outcome resident =
        RunWith({"--memo_budget=57MiB", "--memo_budget_counts=resident"});
    EXPECT_EQ(resident.exit_status, 0) << resident.status;
    EXPECT_LE(resident.trace.peak_bytes(), 55 << 20);
    EXPECT_GE(resident.trace.peak_bytes(), 53 << 20);
  }
}

// The load needs 48 MiB to make a value of 16 MiB.
TEST(ProductBytesTest, WhatALoadNeedsIsMeasuredAndPlannedFor) {
  const auto load = [] {
    const Bytes text(32 << 20, 1);
    return absl::StatusOr<Bytes>(Bytes(text.size() / 2, text[0]));
  };
  const Memo<Bytes> model = *MakeMemo<Bytes>("needy", load, 16 << 20);
  RegisterPairs("BM_Needy", {"model", {model}},
                {"data", {MakeBytes("modest", 8 << 20, 8 << 20)}});
  const Outcome first = RunWith({"--memo_budget=40MiB"});
  EXPECT_EQ(first.exit_status, 1);
  EXPECT_TRUE(ExceedsBudget(first.trace));
  EXPECT_GE(first.trace.peak_bytes(), 48 << 20);
  EXPECT_EQ(RunWith({"--memo_budget=40MiB"}).exit_status, 2);
  const Outcome second = RunWith({"--memo_budget=49MiB"});
  EXPECT_EQ(second.exit_status, 0) << second.status;
  EXPECT_GE(second.trace.plan().peak_bytes(), 48 << 20);
  EXPECT_FALSE(ExceedsBudget(second.trace));
}

// A value that keeps a handle to a memo which is in no product.
template <typename Inner>
struct HolderOf {
  Handle<Inner> held;
  Bytes own;
};

// Makes two values that hold `inner`, take 4 MiB themselves, which is declared,
// and need `scratch_bytes` while they load.
template <typename Inner>
Axis<HolderOf<Inner>> MakeHolders(const std::string& name,
                                  const Memo<Inner>& inner,
                                  size_t scratch_bytes) {
  constexpr int64_t kOwnBytes = 4 << 20;
  Axis<HolderOf<Inner>> axis{"holder", {}};
  for (int i = 0; i < 2; ++i) {
    axis.memos.push_back(*MakeMemo<HolderOf<Inner>>(
        absl::StrCat(name, i),
        [inner, scratch_bytes]() -> absl::StatusOr<HolderOf<Inner>> {
          auto handle = inner.Get();
          if (!handle.ok()) return handle.status();
          Bytes own(kOwnBytes);
          const Bytes scratch(scratch_bytes, 1);
          own[0] = scratch.empty() ? '\0' : scratch.back();
          return HolderOf<Inner>{*std::move(handle), std::move(own)};
        },
        kOwnBytes));
  }
  return axis;
}

template <typename Inner>
void RegisterHolders(const Axis<HolderOf<Inner>>& holders) {
  benchmark::ClearRegisteredBenchmarks();
  ASSERT_THAT(Product(
                  "BM_Holders",
                  [](benchmark::State& state, const HolderOf<Inner>&) {
                    for (auto _ : state) {
                    }
                  },
                  holders),
              IsOk());
}

TEST(ProductBytesTest, WhatAValueHoldsIsRememberedAndPlannedFor) {
  const Memo<Bytes> inner = *MakeMemo<Bytes>(
      "held by a value", [] { return absl::StatusOr<Bytes>(Bytes(32 << 20)); });
  RegisterHolders(MakeHolders("holder", inner, 0));
  const std::string remember =
      "--memo_remember=" + testing::TempDir() + "/holders.binpb";
  const Outcome first = RunWith({remember});
  ASSERT_EQ(first.exit_status, 0) << first.status;
  EXPECT_EQ(first.trace.events(0).held_bytes(), 32 << 20);
  const Outcome known = RunWith({remember});
  for (const MemoPlanValue& value : known.trace.plan().values()) {
    EXPECT_EQ(value.bytes(), 36 << 20) << value.name();
  }
  for (const MemoEvent& event : known.trace.events()) {
    EXPECT_NE(event.kind(), MemoEvent::SIZE_DIFFERS) << event.detail();
  }
  // The meter measures the peak of a load within 64 KiB.
  EXPECT_GE(known.trace.peak_bytes(), 36 << 20);
  EXPECT_LE(known.trace.peak_bytes(), (36 << 20) + (64 << 10));
  EXPECT_EQ(RunWith({remember, "--memo_budget=35MiB"}).exit_status, 2);
  EXPECT_EQ(RunWith({remember, "--memo_budget=37MiB"}).exit_status, 0);
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

// The peak of the first holder's load has the heap of the value that it loads
// and holds, which must not be counted again as memory of the load alone.
TEST(ProductBytesTest, WhatALoadLoadsAndKeepsIsCountedOnce) {
  const Memo<Bytes> inner = *MakeMemo<Bytes>(
      "loaded and held", [] { return absl::StatusOr<Bytes>(Bytes(32 << 20)); });
  benchmark::ClearRegisteredBenchmarks();
  ASSERT_THAT(
      Product(
          "BM_HoldersAndData",
          [](benchmark::State& state, const HolderOf<Bytes>&, const Bytes&) {
            for (auto _ : state) {
            }
          },
          MakeHolders("holder of a new value", inner, 0),
          Axis<Bytes>{"data",
                      {MakeBytes("small a", 1 << 20, 1 << 20),
                       MakeBytes("small b", 1 << 20, 1 << 20)}}),
      IsOk());
  // The first load is a surprise, so the other cells get a new plan.
  const Outcome outcome = RunWith({"--memo_budget=50MiB"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.status;
  EXPECT_TRUE(std::any_of(outcome.trace.events().begin(),
                          outcome.trace.events().end(),
                          [](const MemoEvent& event) {
                            return event.kind() == MemoEvent::PLAN_REVISED;
                          }));
  for (const MemoEvent& event : outcome.trace.events()) {
    EXPECT_NE(event.kind(), MemoEvent::NOT_RUN) << event.detail();
  }
}

// Mapped memory that a test's value keeps.
class Mapping {
 public:
  Mapping()
      : data_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Mapping(Mapping&& other) noexcept : data_(other.data_) {
    other.data_ = MAP_FAILED;
  }
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (data_ != MAP_FAILED) munmap(data_, kBytes);
  }

 private:
  static constexpr size_t kBytes = 32 << 20;
  void* data_;
};

// The peak of a load has no mappings of other values, so what they take must
// not be subtracted from it.
TEST(ProductBytesTest, WhatALoadNeedsBesideAMappingThatItHoldsIsPlannedFor) {
  const Memo<Mapping> inner = *MakeMemo<Mapping>(
      "mapped and held", [] { return absl::StatusOr<Mapping>(Mapping()); });
  RegisterHolders(MakeHolders("holder of a mapping", inner, 16 << 20));
  const std::string remember =
      "--memo_remember=" + testing::TempDir() + "/mapped_holders.binpb";
  ASSERT_EQ(RunWith({remember}).exit_status, 0);
  const Outcome known = RunWith({remember});
  ASSERT_EQ(known.trace.plan().values_size(), 2);
  for (const MemoPlanValue& value : known.trace.plan().values()) {
    EXPECT_EQ(value.bytes(), 36 << 20) << value.name();
    EXPECT_GE(value.load_peak_bytes(), 52 << 20) << value.name();
    EXPECT_LE(value.load_peak_bytes(), (52 << 20) + (64 << 10)) << value.name();
  }
}

}  // namespace
}  // namespace footprint
