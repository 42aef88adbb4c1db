// Budgets with jemalloc, which measures.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
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
struct Holder {
  Handle<Bytes> held;
  Bytes own;
};

TEST(ProductBytesTest, WhatAValueHoldsIsRememberedAndPlannedFor) {
  const Memo<Bytes> inner = *MakeMemo<Bytes>(
      "held by a value", [] { return absl::StatusOr<Bytes>(Bytes(32 << 20)); });
  Axis<Holder> axis{"holder", {}};
  for (int i = 0; i < 2; ++i) {
    axis.memos.push_back(*MakeMemo<Holder>(
        absl::StrCat("holder", i), [inner]() -> absl::StatusOr<Holder> {
          auto handle = inner.Get();
          if (!handle.ok()) return handle.status();
          return Holder{*std::move(handle), Bytes(4 << 20)};
        }));
  }
  benchmark::ClearRegisteredBenchmarks();
  ASSERT_THAT(Product(
                  "BM_Holders",
                  [](benchmark::State& state, const Holder&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
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

}  // namespace
}  // namespace footprint
