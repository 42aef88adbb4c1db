// Sizes of values, and budgets.

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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

TEST_F(ProductTest, ABudgetHoldsAndMayReorder) {
  RegisterThreeByTwo();
  const Outcome given = RunWith({"--memo_budget=600B"});
  EXPECT_EQ(given.exit_status, 0) << given.status;
  EXPECT_LE(given.trace.plan().peak_bytes(), 600);
  EXPECT_EQ(given.trace.load_count(), given.trace.plan().load_count());
  EXPECT_FALSE(given.trace.plan().is_reordered());
  load_count = 0;
  const Outcome reordered =
      RunWith({"--memo_budget=600B", "--memo_order=reorder"});
  EXPECT_EQ(reordered.exit_status, 0);
  EXPECT_EQ(load_count, 7);
  EXPECT_TRUE(reordered.trace.plan().is_optimal());
  EXPECT_EQ(std::set<std::string>(reordered.reporter.names.begin(),
                                  reordered.reporter.names.end())
                .size(),
            6u);
}

TEST_F(ProductTest, RefusesABudgetThatCannotBe) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_budget=599B"});
  EXPECT_EQ(outcome.count, 0u);
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_NE(outcome.status.message().find("smallest budget that can is 600"),
            absl::string_view::npos);
  EXPECT_EQ(load_count, 0);
}

TEST_F(ProductTest, SaysThePlanInALineForTheProfile) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_budget=2KiB"});
  ASSERT_EQ(outcome.remarks.size(), 1u);
  EXPECT_EQ(outcome.remarks[0].about(), "memo plan");
  EXPECT_EQ(outcome.remarks[0].text(),
            "5 values, 5 loads planned (keep to last use, optimal), 3 alive at "
            "most; peak 800 B, budget 2.00 KiB (2,048 B)");
  benchmark::ClearRegisteredBenchmarks();
  EXPECT_EQ(RunWith({}).remarks.size(), 0u);
}

// Like the README's program: the second product needs all models again.
TEST_F(ProductTest, SaysWhatAnotherOrderWouldNeed) {
  Axis<Model> models = MakeAxis<Model>("model", 3, 100);
  Axis<Data> data = MakeAxis<Data>("data", 2, 50);
  ASSERT_THAT(Product(
                  Unique("alone"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  models),
              IsOk());
  ASSERT_THAT(Product(
                  Unique("pairs"),
                  [](benchmark::State& state, const Model&, const Data&) {
                    for (auto _ : state) {
                    }
                  },
                  models, data),
              IsOk());
  const Outcome given = RunWith({});
  EXPECT_EQ(given.trace.plan().peak_bytes(), 400);
  EXPECT_EQ(given.trace.peak_bytes(), 400);
  EXPECT_NE(given.remarks[0].text().find(
                "peak 400 B; in another order (--memo_order=reorder) 200 B"),
            std::string::npos)
      << given.remarks[0].text();
  load_count = 0;
  const Outcome reordered = RunWith({"--memo_order=reorder"});
  EXPECT_EQ(reordered.trace.peak_bytes(), 200);
  EXPECT_EQ(load_count, 5);
  EXPECT_EQ(reordered.trace.plan().other_order_peak_count(), 0);
}

// If no value has a size, the plan tells how many are alive.
TEST_F(ProductTest, SaysHowManyValuesAnotherOrderWouldHaveAlive) {
  const auto run = [](benchmark::State& state, const Model&) {
    for (auto _ : state) {
    }
  };
  const Axis<Model> models = MakeAxis<Model>("model", 3, 0);
  ASSERT_THAT(Product(Unique("first"), run, models), IsOk());
  ASSERT_THAT(Product(Unique("second"), run, models), IsOk());
  const Outcome given = RunWith({});
  EXPECT_EQ(given.trace.plan().peak_count(), 3);
  EXPECT_EQ(given.trace.plan().other_order_peak_count(), 1);
  EXPECT_NE(given.remarks[0].text().find(
                "in another order (--memo_order=reorder) 1 alive at most"),
            std::string::npos)
      << given.remarks[0].text();
}

TEST_F(ProductTest, GuessesAFilesSizeAndRefusesNothingForIt) {
  const std::string path = testing::TempDir() + "/guessed";
  std::ofstream(path) << std::string(700, 'w');
  Axis<Model> axis = MakeAxis<Model>("model", 1, 0);
  axis.memos.push_back(*MakeMemo<Model>(path, [] { return Model{7}; }));
  MemoOptions options;
  options.source_path = path;
  axis.memos.push_back(*MakeMemo<Model>(
      Unique("from a file"), [] { return Model{8}; }, options));
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_TRUE(outcome.trace.plan().values(0).is_unknown());
  EXPECT_TRUE(outcome.trace.plan().values(1).is_guessed());
  EXPECT_EQ(outcome.trace.plan().values(1).bytes(), 700);
  EXPECT_EQ(outcome.trace.plan().values(2).bytes(), 700);
  EXPECT_NE(outcome.remarks[0].text().find("2 sizes guessed; 1 sizes unknown"),
            std::string::npos);
  const Outcome some =
      RunWith({"--memo_budget=700B", "--benchmark_filter=guessed|file"});
  EXPECT_EQ(some.exit_status, 0) << some.status;
}

// The advice about another order is true if the program takes that order.
TEST_F(ProductTest, AnotherOrderOfUnknownSizesIsTheOneThatWasPromised) {
  const Axis<Model> models = MakeAxis<Model>("model", 2, 0);
  const Axis<Data> data = MakeAxis<Data>("data", 4, 0);
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&, const Data&) {
                    for (auto _ : state) {
                    }
                  },
                  models, data),
              IsOk());
  const Outcome given = RunWith({});
  const int64_t promised = given.trace.plan().other_order_peak_count();
  ASSERT_GT(promised, 0);
  most_live = live = 0;
  const Outcome reordered = RunWith({"--memo_order=reorder"});
  EXPECT_EQ(reordered.exit_status, 0);
  EXPECT_EQ(reordered.trace.plan().peak_count(), promised);
}

TEST_F(ProductTest, RemembersWhatWasMeasured) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/remembered.binpb";
  // Without jemalloc no size is measured, but the time of each load is.
  EXPECT_EQ(RunWith({"--memo_remember=" + path}).exit_status, 0);
  absl::StatusOr<MemoTrace> remembered = ReadMemoTraceFile(path);
  ASSERT_THAT(remembered, IsOk());
  EXPECT_EQ(remembered->events_size(), 5);
  for (const MemoEvent& event : remembered->events()) {
    EXPECT_EQ(event.bytes(), 0);
    EXPECT_GT(event.load_nanoseconds(), 0);
  }
  // The file now looks like that of an earlier run, with another program's
  // value.
  LoadedSize size;
  size.bytes = 4000;
  size.load_peak_bytes = 5 << 20;
  size.source = SizeSource::kMeasured;
  ASSERT_THAT(
      WriteMemoTraceFile(
          TraceOfSizes({{Unique("model0"), size}, {"other", size}}), path),
      IsOk());
  const Outcome outcome = RunWith({"--memo_remember=" + path});
  EXPECT_EQ(outcome.trace.plan().values(0).bytes(), 4000);
  EXPECT_EQ(outcome.trace.plan().values(0).load_peak_bytes(), 5 << 20);
  EXPECT_EQ(outcome.trace.plan().peak_bytes(), 5 << 20);
  EXPECT_EQ(ReadMemoTraceFile(path)->events_size(), 6);
  EXPECT_EQ(RunWith({"--memo_remember=/no/such/folder/x"}).exit_status, 2);
  std::ofstream(path) << "no trace";
  EXPECT_EQ(RunWith({"--memo_remember=" + path}).exit_status, 2);
}

TEST_F(ProductTest, EachLoadHasItsOwnTime) {
  const Axis<Model> models = MakeAxis<Model>("model", 3, 400);
  const Axis<Data> data = MakeAxis<Data>("data", 2, 200);
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&, const Data&) {
                    for (auto _ : state) {
                    }
                  },
                  models, data),
              IsOk());
  const Outcome outcome = RunWith({"--memo_budget=600B"});
  ASSERT_EQ(outcome.exit_status, 0) << outcome.status;
  for (const Memo<Data>& memo : data.memos) {
    int64_t nanoseconds = 0;
    for (const MemoEvent& event : outcome.trace.events()) {
      if (event.name() == memo.name()) nanoseconds += event.load_nanoseconds();
    }
    EXPECT_GT(memo.statistics().load_count, 1u);
    EXPECT_EQ(nanoseconds, memo.statistics().load_nanoseconds);
  }
}

// One file has the sizes and the other the times; the plan has both.
TEST_F(ProductTest, ATimeOfTheSizesFileIsKeptBesideWhatIsRemembered) {
  const std::string sizes = testing::TempDir() + "/times.binpb";
  const std::string remembered = testing::TempDir() + "/without_times.binpb";
  Axis<Model> axis = MakeAxis<Model>("model", 2, 400);
  LoadedSize size;
  size.bytes = 400;
  size.source = SizeSource::kMeasured;
  std::map<std::string, LoadedSize> known;
  for (const Memo<Model>& memo : axis.memos) known[memo.name()] = size;
  ASSERT_THAT(WriteMemoTraceFile(TraceOfSizes(known), remembered), IsOk());
  for (auto& [name, timed] : known) timed.load_nanoseconds = 5'000'000'000;
  ASSERT_THAT(WriteMemoTraceFile(TraceOfSizes(known), sizes), IsOk());
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
  const Outcome outcome =
      RunWith({"--memo_sizes=" + sizes, "--memo_remember=" + remembered});
  EXPECT_TRUE(outcome.trace.plan().costs_are_microseconds());
  EXPECT_EQ(outcome.trace.plan().load_cost(), 10'000'000);
}

TEST_F(ProductTest, WhatAnotherRunRemembersMeanwhileStays) {
  const std::string path = testing::TempDir() + "/remembered_by_two.binpb";
  std::ofstream(path, std::ios::trunc).flush();  // Empty: no sizes.
  LoadedSize size;
  size.bytes = 4000;
  size.source = SizeSource::kMeasured;
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [&](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                    EXPECT_THAT(RememberSizes({{"other", size}}, path), IsOk());
                  },
                  MakeAxis<Model>("model", 1, 400)),
              IsOk());
  EXPECT_EQ(RunWith({"--memo_remember=" + path}).exit_status, 0);
  EXPECT_EQ((*ReadRememberedSizes(path))["other"].bytes, 4000);
}

TEST_F(ProductTest, ADifferentSizeIsSaidWithTheFlagThatIsInUse) {
  const std::string path = testing::TempDir() + "/different.binpb";
  LoadedSize size;
  size.bytes = 4000;
  size.source = SizeSource::kMeasured;
  ASSERT_THAT(
      WriteMemoTraceFile(TraceOfSizes({{Unique("model0"), size}}), path),
      IsOk());
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_remember=" + path});
  int differing_count = 0;
  for (const MemoEvent& event : outcome.trace.events()) {
    if (event.kind() != MemoEvent::SIZE_DIFFERS) continue;
    ++differing_count;
    EXPECT_NE(event.detail().find("--memo_remember="), std::string::npos);
    EXPECT_EQ(event.detail().find("--memo_trace_out="), std::string::npos);
  }
  EXPECT_EQ(differing_count, 1);
}

TEST_F(ProductTest, AnAutomaticBudgetIsWhatTheMachineHasLeft) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_budget=auto"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.status;
  EXPECT_GT(outcome.trace.plan().budget_bytes(), 800);
  EXPECT_TRUE(outcome.trace.plan().counts_resident_bytes());
}

TEST_F(ProductTest, WhatFactoriesLoadCountsAndIsEvicted) {
  int inner_count = 0;
  const Memo<Data> inner = *MakeMemo<Data>(
      Unique("inner"),
      [&] {
        ++inner_count;
        return Data{5};
      },
      100);
  Axis<Model> axis{"model", {}};
  for (int i = 0; i < 3; ++i) {
    axis.memos.push_back(*MakeMemo<Model>(
        Unique(absl::StrCat("model", i)),
        [inner, i]() -> absl::StatusOr<Model> {
          const auto handle = inner.Get();
          if (!handle.ok()) return handle.status();
          return Model{i + (*handle)->id};
        },
        400));
  }
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.trace.peak_bytes(), 500);
  EXPECT_EQ(outcome.trace.events(1).kind(), MemoEvent::LOADED_BY_FACTORY);
  EXPECT_EQ(outcome.trace.events(1).name(), Unique("inner"));
  EXPECT_EQ(inner_count, 1);
  EXPECT_FALSE(inner.statistics().is_loaded);
  // Under a budget the value is evicted at once, and the run reports that the
  // budget was exceeded.
  const Outcome budgeted = RunWith({"--memo_budget=450B"});
  EXPECT_EQ(budgeted.exit_status, 1);
  EXPECT_EQ(inner_count, 4);
  // A larger budget keeps the value.
  EXPECT_EQ(RunWith({"--memo_budget=500B"}).exit_status, 0);
  EXPECT_EQ(inner_count, 5);
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

// A value that something else has loaded is alive too, but is not a load of the
// plan.
TEST_F(ProductTest, AValueFoundLoadedCountsAsAliveNotAsALoad) {
  Axis<Model> axis = MakeAxis<Model>("model", 2, 400);
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
  ASSERT_THAT(axis.memos[0].Get(), IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.trace.events(0).kind(), MemoEvent::FOUND_LOADED);
  EXPECT_EQ(outcome.trace.events(0).bytes(), 400);
  EXPECT_EQ(outcome.trace.load_count(), 1);
  EXPECT_EQ(outcome.trace.peak_bytes(), 400);
  EXPECT_EQ(load_count, 2);
}

// Returns the bytes of the values that took another size than planned, in the
// order of their loads.
std::vector<int64_t> DifferingBytes(const MemoTrace& trace) {
  std::vector<int64_t> bytes;
  for (const MemoEvent& event : trace.events()) {
    if (event.kind() == MemoEvent::SIZE_DIFFERS) bytes.push_back(event.bytes());
  }
  return bytes;
}

TEST_F(ProductTest, ATraceTellsTheNextPlanTheSizes) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/sizes.binpb";
  ASSERT_EQ(RunWith({"--memo_trace_out=" + path}).exit_status, 0);
  const absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(path);
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->load_count(), 5);
  const Outcome outcome = RunWith({"--memo_sizes=" + path});
  EXPECT_EQ(outcome.exit_status, 0);
  // Without jemalloc the trace has the declared sizes.
  EXPECT_FALSE(outcome.trace.plan().values(0).is_measured());
  MemoTrace measured = *trace;
  for (MemoEvent& event : *measured.mutable_events()) {
    if (event.kind() == MemoEvent::LOADED) event.set_bytes(4000);
    event.set_is_measured(event.kind() == MemoEvent::LOADED);
  }
  ASSERT_THAT(WriteMemoTraceFile(measured, path), IsOk());
  const Outcome second = RunWith({"--memo_sizes=" + path});
  EXPECT_TRUE(second.trace.plan().values(0).is_measured());
  EXPECT_EQ(second.trace.plan().values(0).bytes(), 4000);
  EXPECT_EQ(DifferingBytes(second.trace),
            (std::vector<int64_t>{400, 200, 200, 400, 400}));
}

// A size that the next plan treats as declared is compared, too.
TEST_F(ProductTest, SaysHowManyBytesAValueTakesThatWereDeclaredOtherwise) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/declared.binpb";
  ASSERT_EQ(RunWith({"--memo_trace_out=" + path}).exit_status, 0);
  MemoTrace declared = *ReadMemoTraceFile(path);
  for (MemoEvent& event : *declared.mutable_events()) {
    if (event.kind() == MemoEvent::LOADED) event.set_bytes(4000);
  }
  ASSERT_THAT(WriteMemoTraceFile(declared, path), IsOk());
  const Outcome outcome = RunWith({"--memo_sizes=" + path});
  EXPECT_FALSE(outcome.trace.plan().values(0).is_measured());
  EXPECT_EQ(DifferingBytes(outcome.trace),
            (std::vector<int64_t>{400, 200, 200, 400, 400}));
}

TEST_F(ProductTest, ABudgetThatLoadsExceedIsAProblem) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/too_small.binpb";
  ASSERT_EQ(RunWith({"--memo_trace_out=" + path}).exit_status, 0);
  MemoTrace trace = *ReadMemoTraceFile(path);
  for (MemoEvent& event : *trace.mutable_events()) {
    if (event.kind() == MemoEvent::LOADED) event.set_bytes(1);
  }
  ASSERT_THAT(WriteMemoTraceFile(trace, path), IsOk());
  // The plan expects a byte per value, but the values take 400 and 200.
  const Outcome outcome = RunWith({"--memo_sizes=" + path, "--memo_budget=3"});
  EXPECT_EQ(outcome.exit_status, 1);
  int exceeding_count = 0;
  for (const MemoEvent& event : outcome.trace.events()) {
    exceeding_count += event.kind() == MemoEvent::BUDGET_EXCEEDED;
  }
  EXPECT_GT(exceeding_count, 0);
}

}  // namespace
}  // namespace footprint
