// Values that take more than planned. These tests need jemalloc, which
// measures.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/product.h"
#include "footprint/memo/product/product_fixture.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

using Block = std::unique_ptr<char[]>;

constexpr int64_t kMebibyte = 1 << 20;

Block Touched(int64_t bytes) {
  Block block(new char[static_cast<size_t>(bytes)]);
  std::memset(block.get(), 1, static_cast<size_t>(bytes));
  return block;
}

std::string FindDetail(const MemoTrace& trace, MemoEvent::Kind kind) {
  for (const MemoEvent& event : trace.events()) {
    if (event.kind() == kind) return event.detail();
  }
  return "";
}

class ExceededBudgetTest : public ProductTest {
 protected:
  // Registers one value, and what its cell does with it.
  void RegisterOne(int64_t declared_bytes,
                   std::function<absl::StatusOr<Block>()> load,
                   std::function<void(const Block&)> use) {
    Axis<Block> axis{"model", {}};
    axis.memos.push_back(
        *MakeMemo<Block>(Unique("model"), std::move(load), declared_bytes));
    ASSERT_THAT(Product(
                    Unique("BM"),
                    [use](benchmark::State& state, const Block& block) {
                      for (auto _ : state) use(block);
                    },
                    axis),
                IsOk());
  }

  // Registers three models by two data sets, each from a file of `file_bytes`.
  void RegisterFromFiles(int64_t file_bytes, int64_t bytes) {
    const auto make = [&](const std::string& name, int count) {
      Axis<Block> axis{name, {}};
      for (int i = 0; i < count; ++i) {
        MemoOptions options;
        options.source_path =
            absl::StrCat(testing::TempDir(), "/", Unique(name), i);
        std::ofstream(options.source_path)
            << std::string(static_cast<size_t>(file_bytes), 'w');
        axis.memos.push_back(*MakeMemo<Block>(
            Unique(absl::StrCat(name, i)),
            [bytes]() -> absl::StatusOr<Block> { return Touched(bytes); },
            options));
      }
      return axis;
    };
    ASSERT_THAT(Product(
                    Unique("BM"),
                    [](benchmark::State& state, const Block&, const Block&) {
                      for (auto _ : state) {
                      }
                    },
                    make("model", 3), make("data", 2)),
                IsOk());
  }
};

// The value has a workspace, and its cell writes the workspace's pages.
TEST_F(ExceededBudgetTest, PagesTouchedAfterTheLoadAreSeen) {
  constexpr size_t kBytes = 60 << 20;
  RegisterOne(
      kMebibyte, [] { return Block(new char[kBytes]); },
      [](const Block& block) { std::memset(block.get(), 1, kBytes); });
  const Outcome outcome =
      RunWith({"--memo_budget=20MiB", "--memo_budget_counts=resident"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(FindDetail(outcome.trace, MemoEvent::BUDGET_EXCEEDED),
              HasSubstr("resident memory beyond what it had before the run, "
                        "more than the budget of 20.0 MiB"));
}

// The peak shows only in the high-water mark: no counter of a value has it.
TEST_F(ExceededBudgetTest, PeaksOfAFactorysThreadsAreSeen) {
  RegisterOne(
      kMebibyte,
      []() -> absl::StatusOr<Block> {
        std::thread([] {
          constexpr size_t kBytes = 160 << 20;
          void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          std::memset(mapped, 1, kBytes);
          munmap(mapped, kBytes);
        }).join();
        return Touched(kMebibyte);
      },
      [](const Block&) {});
  const Outcome outcome = RunWith({"--memo_budget=20MiB"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(FindDetail(outcome.trace, MemoEvent::BUDGET_EXCEEDED),
              HasSubstr(Unique("model")));
}

TEST_F(ExceededBudgetTest, WithinTheBudgetNothingIsSaid) {
  RegisterOne(
      20 * kMebibyte, [] { return Touched(20 * kMebibyte); },
      [](const Block&) {});
  const Outcome outcome = RunWith({"--memo_budget=30MiB"});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(FindDetail(outcome.trace, MemoEvent::BUDGET_EXCEEDED), "");
}

// The first plan keeps both data sets and expects 24 MiB; the true size is 96
// MiB.
TEST_F(ExceededBudgetTest, ThePlanIsRevisedAtTheFirstSurprise) {
  RegisterFromFiles(8 * kMebibyte, 32 * kMebibyte);
  const Outcome outcome = RunWith({"--memo_budget=70MiB"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.status;
  EXPECT_THAT(FindDetail(outcome.trace, MemoEvent::PLAN_REVISED),
              HasSubstr("the 5 cells that are left have a new plan"));
  EXPECT_EQ(outcome.trace.plan().load_count(), 5);
  EXPECT_GT(outcome.trace.load_count(), 5);
  EXPECT_LE(outcome.trace.peak_bytes(), 70 * kMebibyte);
  EXPECT_EQ(outcome.reporter.names.size(), 6u);
  for (const auto& [name, error] : outcome.reporter.errors) {
    EXPECT_EQ(error, "") << name;
  }
}

TEST_F(ExceededBudgetTest, CellsThatDoNotFitHaveAnErrorInTheirRows) {
  RegisterFromFiles(8 * kMebibyte, 32 * kMebibyte);
  const Outcome outcome = RunWith({"--memo_budget=50MiB"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.reporter.names.size(), 6u);
  int refused_count = 0;
  for (const auto& [name, error] : outcome.reporter.errors) {
    if (error.empty()) continue;
    EXPECT_THAT(error, HasSubstr("more than the budget of 50.0 MiB"));
    ++refused_count;
  }
  // The first cell is the one whose value took more than planned.
  EXPECT_EQ(refused_count, 5);
}

// The next run knows the sizes even if this one is killed.
TEST_F(ExceededBudgetTest, SizesAreRememberedAfterEachLoad) {
  const std::string path = testing::TempDir() + "/after_each_load.binpb";
  int64_t remembered_bytes = 0;
  RegisterOne(
      20 * kMebibyte, [] { return Touched(20 * kMebibyte); },
      [&](const Block&) {
        const auto sizes = ReadRememberedSizes(path);
        ASSERT_THAT(sizes, IsOk());
        const auto size = sizes->find(Unique("model"));
        remembered_bytes = size == sizes->end() ? -1 : size->second.bytes;
      });
  EXPECT_EQ(RunWith({"--memo_remember=" + path}).exit_status, 0);
  EXPECT_GE(remembered_bytes, 20 * kMebibyte);
}

}  // namespace
}  // namespace footprint
