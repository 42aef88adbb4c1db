// Setup and teardown of products: what they know, and what they may evict.

#include <set>
#include <string>
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
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// This is the teardown in nnbench's guide.
absl::Status EvictModel(const Model& model, const Data&) {
  const absl::StatusOr<Memo<Model>> memo = GetMemoByValue(model);
  return memo.ok() ? memo->Evict() : memo.status();
}

TEST_F(ProductTest, TasksAreToldTheirInstance) {
  std::vector<std::string> told;
  const auto tell = [&](const InstanceState& state, const Model& model,
                        const Data& data) {
    told.push_back(absl::StrCat(model.id, data.id, " ", state.family_index,
                                " of ", state.family_size));
    EXPECT_EQ(state.family, Unique("BM"));
    EXPECT_EQ(state.name, Cell(model.id, data.id));
    return absl::OkStatus();
  };
  RegisterThreeByTwo().Setup(tell).Teardown(tell);
  EXPECT_EQ(RunWith({"--benchmark_filter=data1"}).exit_status, 0);
  EXPECT_THAT(told, ElementsAre("01 0 of 3", "01 0 of 3", "11 1 of 3",
                                "11 1 of 3", "21 2 of 3", "21 2 of 3"));
}

TEST_F(ProductTest, IndicesCountInTheOrderOfTheRun) {
  std::vector<size_t> indices;
  RegisterThreeByTwo().Setup(
      [&](const InstanceState& state, const Model&, const Data&) {
        indices.push_back(state.family_index);
        return absl::OkStatus();
      });
  const Outcome outcome =
      RunWith({"--memo_budget=600B", "--memo_order=reorder"});
  EXPECT_TRUE(outcome.trace.plan().is_reordered());
  EXPECT_THAT(indices, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(ProductTest, AnInstanceOfThreadsHasAStateOfItsOwn) {
  std::vector<std::string> names;
  RegisterThreeByTwo()
      .ForEach([](auto* cell) { cell->Threads(1)->Threads(2); })
      .Setup([&](const InstanceState& state, const Model&, const Data&) {
        names.push_back(state.name);
        EXPECT_EQ(state.family_size, 2u);
        return absl::OkStatus();
      });
  RunWith({"--benchmark_filter=model2.*data0"});
  EXPECT_THAT(
      names, ElementsAre(Cell(2, 0) + "/threads:1", Cell(2, 0) + "/threads:2"));
}

TEST_F(ProductTest, ATeardownMayEvictAtTheLastUse) {
  const Axis<Model> axis = MakeAxis<Model>("model", 3, 400);
  auto product = Product(
      Unique("BM"),
      [](benchmark::State& state, const Model&) {
        for (auto _ : state) {
        }
      },
      axis);
  ASSERT_THAT(product, IsOk());
  product->Teardown([](const Model& model) {
    const Memo<Model> memo = *GetMemoByValue(model);
    const absl::Status evicted = memo.Evict();
    EXPECT_FALSE(memo.statistics().is_loaded);
    return evicted;
  });
  testing::internal::CaptureStderr();
  const Outcome outcome = RunWith({});
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("evicted by"),
            std::string::npos);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(load_count, 3);
  int eviction_count = 0;
  for (const MemoEvent& event : outcome.trace.events()) {
    if (event.kind() != MemoEvent::EVICTED) continue;
    ++eviction_count;
    EXPECT_THAT(event.detail(), HasSubstr("by the teardown of "));
    EXPECT_EQ(event.live_bytes(), 0);
  }
  EXPECT_EQ(eviction_count, 3);
}

TEST_F(ProductTest, ATeardownThatEvictsBeforeTheLastUseCostsLoadsAndIsTold) {
  RegisterThreeByTwo().Teardown(EvictModel);
  testing::internal::CaptureStderr();
  const Outcome outcome = RunWith({});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(outcome.exit_status, 0) << said;
  // The number of loads is nnbench's: a model for each cell.
  EXPECT_EQ(outcome.trace.load_count(), 8);
  EXPECT_EQ(load_count, 8);
  EXPECT_EQ(outcome.trace.plan().load_count(), 5);
  EXPECT_EQ(outcome.count, 6u);
  for (const auto& [name, error] : outcome.reporter.errors) {
    EXPECT_EQ(error, "") << name;
  }
  EXPECT_THAT(said, HasSubstr("the plan keeps it for a later cell"));
  // The message comes once per value, however many cells evict it.
  const std::string of_first =
      absl::StrCat("\"", Unique("model0"), "\": evicted by the teardown");
  EXPECT_NE(said.find(of_first), std::string::npos);
  EXPECT_EQ(said.find(of_first), said.rfind(of_first));
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

TEST_F(ProductTest, UnderABudgetATeardownMayEvictToo) {
  RegisterThreeByTwo().Teardown(EvictModel);
  const Outcome outcome = RunWith({"--memo_budget=600B"});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_LE(outcome.trace.peak_bytes(), 600);
}

TEST_F(ProductTest, ATeardownThatKeepsAHandleIsReported) {
  std::vector<Handle<Model>> held;
  RegisterThreeByTwo().Teardown([&](const Model& model, const Data&) {
    held.push_back(*GetMemoByValue(model)->Get());
    return absl::OkStatus();
  });
  const Outcome outcome = RunWith({"--benchmark_filter=model0.*data0"});
  EXPECT_EQ(outcome.exit_status, 1);
  std::set<int> kinds;
  for (const MemoEvent& event : outcome.trace.events()) {
    kinds.insert(event.kind());
  }
  EXPECT_EQ(kinds.count(MemoEvent::EVICTION_FAILED), 1u);
  const Memo<Model> memo = held[0].memo();
  held.clear();
  EXPECT_THAT(memo.Evict(), IsOk());
}

TEST_F(ProductTest, ASetupMayNotEvict) {
  RegisterThreeByTwo().Setup(EvictModel);
  const Outcome outcome = RunWith({"--benchmark_filter=model0.*data0"});
  EXPECT_EQ(outcome.exit_status, 1);
  ASSERT_EQ(outcome.reporter.errors.size(), 1u);
  EXPECT_THAT(outcome.reporter.errors.begin()->second, HasSubstr("pinned"));
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

}  // namespace
}  // namespace footprint
