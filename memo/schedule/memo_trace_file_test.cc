#include "footprint/memo/schedule/memo_trace_file.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

std::string Path(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

MemoTrace SmallTrace() {
  ScheduleRequest request;
  request.values = {{"model", 400, SizeSource::kMeasured},
                    {"data", 0, SizeSource::kUnknown}};
  request.cells = {{"cell", {0, 1}}};
  request.may_reorder = true;
  MemoTrace trace;
  *trace.mutable_plan() = DescribePlan(request, *PlanSchedule(request));
  MemoEvent* event = trace.add_events();
  event->set_kind(MemoEvent::LOADED);
  event->set_name("model");
  event->set_bytes(401);
  event = trace.add_events();
  event->set_kind(MemoEvent::EVICTED);
  event->set_name("model");
  event->set_bytes(900);
  return trace;
}

TEST(MemoTraceFileTest, DescribesThePlan) {
  const MemoPlan plan = SmallTrace().plan();
  ASSERT_EQ(plan.steps_size(), 1);
  EXPECT_EQ(plan.steps(0).cell(), "cell");
  EXPECT_EQ(plan.steps(0).loads_size(), 2);
  EXPECT_EQ(plan.steps(0).evictions_size(), 2);
  EXPECT_TRUE(plan.values(0).is_measured());
  EXPECT_TRUE(plan.values(1).is_unknown());
  EXPECT_EQ(plan.peak_bytes(), 400);
  EXPECT_EQ(plan.unknown_size_count(), 1);
  EXPECT_EQ(plan.smallest_budget_bytes(), 400);
  EXPECT_TRUE(plan.may_reorder());
  EXPECT_FALSE(plan.has_budget_bytes());
  EXPECT_TRUE(plan.is_optimal());
}

// Every number of a schedule is set, and each differs from the others.
TEST(MemoTraceFileTest, DescribesEveryNumberOfASchedule) {
  ScheduleRequest request;
  request.values = {{"a", 400, SizeSource::kGuessed, 3, 500},
                    {"b", 30, SizeSource::kDeclared, 2}};
  request.cells = {{"x=1", {0}}, {"x=2", {1}}};
  request.budget_bytes = 600;
  Schedule schedule;
  schedule.steps = {{1, {1}, {1}}, {0, {0}, {0}}};
  schedule.method = ScheduleMethod::kExactSearch;
  schedule.is_reordered = true;
  schedule.load_count = 21;
  schedule.load_cost = 22;
  schedule.least_load_cost = 23;
  schedule.peak_bytes = 24;
  schedule.smallest_budget_bytes = 25;
  schedule.unknown_size_count = 26;
  EXPECT_EQ(
      DescribePlan(request, schedule).ShortDebugString(),
      "values { name: \"a\" bytes: 400 is_guessed: true load_peak_bytes: 500 "
      "load_cost: 3 } values { name: \"b\" bytes: 30 load_cost: 2 } "
      "steps { cell: \"x=2\" loads: \"b\" evictions: \"b\" } "
      "steps { cell: \"x=1\" loads: \"a\" evictions: \"a\" } "
      "budget_bytes: 600 is_reordered: true method: \"exact search\" "
      "load_count: 21 load_cost: 22 peak_bytes: 24 unknown_size_count: 26 "
      "smallest_budget_bytes: 25 peak_count: 1 guessed_size_count: 1 "
      "least_load_cost: 23");
}

TEST(MemoTraceFileTest, ReadsWhatWasWritten) {
  const std::string path = Path("round.binpb");
  ASSERT_THAT(WriteMemoTraceFile(SmallTrace(), path), IsOk());
  const absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(path);
  ASSERT_THAT(trace, IsOk());
  MemoTrace expected = SmallTrace();
  expected.set_schema_version(kMemoTraceSchemaVersion);
  EXPECT_EQ(trace->SerializeAsString(), expected.SerializeAsString());
  EXPECT_EQ(trace->events_size(), 2);
}

TEST(MemoTraceFileTest, SizesAreThoseOfLoads) {
  MemoTrace trace = SmallTrace();
  std::map<std::string, LoadedSize> sizes = LoadedSizes(trace);
  EXPECT_EQ(sizes.size(), 1u);
  EXPECT_EQ(sizes.at("model").bytes, 401);
  EXPECT_EQ(sizes.at("model").source, SizeSource::kDeclared);
  trace.mutable_events(0)->set_is_measured(true);
  EXPECT_EQ(LoadedSizes(trace).at("model").source, SizeSource::kMeasured);
}

TEST(MemoTraceFileTest, ALoadWithoutSizeAndTimeTellsNothing) {
  MemoTrace trace;
  MemoEvent* const event = trace.add_events();
  event->set_kind(MemoEvent::LOADED);
  event->set_name("model");
  EXPECT_TRUE(LoadedSizes(trace).empty());
}

TEST(MemoTraceFileTest, TheTimeOfTheQuickestLoadIsRemembered) {
  MemoTrace trace = SmallTrace();
  trace.mutable_events(0)->set_load_nanoseconds(70);
  MemoEvent* again = trace.add_events();
  *again = trace.events(0);
  again->set_load_nanoseconds(50);
  MemoEvent* found = trace.add_events();
  *found = trace.events(0);
  found->set_kind(MemoEvent::FOUND_LOADED);
  found->set_load_nanoseconds(0);
  EXPECT_EQ(LoadedSizes(trace).at("model").load_nanoseconds, 50);
  EXPECT_EQ(LoadedSizes(TraceOfSizes(LoadedSizes(trace)))
                .at("model")
                .load_nanoseconds,
            50);
}

// Times are known even without an allocator that counts.
TEST(MemoTraceFileTest, OfADeclaredSizeOnlyTheTimeIsRemembered) {
  const std::string path = Path("times.binpb");
  std::remove(path.c_str());
  LoadedSize declared;
  declared.bytes = 7;
  declared.load_nanoseconds = 90;
  ASSERT_THAT(RememberSizes({{"a", declared}}, path), IsOk());
  LoadedSize known = ReadRememberedSizes(path)->at("a");
  EXPECT_EQ(known.load_nanoseconds, 90);
  EXPECT_EQ(known.bytes, 0);
  EXPECT_EQ(known.source, SizeSource::kUnknown);
  LoadedSize measured = declared;
  measured.source = SizeSource::kMeasured;
  measured.load_nanoseconds = 0;
  ASSERT_THAT(RememberSizes({{"a", measured}}, path), IsOk());
  known = ReadRememberedSizes(path)->at("a");
  EXPECT_EQ(known.load_nanoseconds, 90);
  EXPECT_EQ(known.bytes, 7);
  declared.load_nanoseconds = 60;
  ASSERT_THAT(RememberSizes({{"a", declared}}, path), IsOk());
  known = ReadRememberedSizes(path)->at("a");
  EXPECT_EQ(known.load_nanoseconds, 60);
  EXPECT_EQ(known.source, SizeSource::kMeasured);
}

TEST(MemoTraceFileTest, RefusesOtherFiles) {
  const auto code_of = [](const std::string& text) {
    WriteText(Path("bad.binpb"), text);
    return ReadMemoTraceFile(Path("bad.binpb")).status().code();
  };
  EXPECT_THAT(ReadMemoTraceFile(Path("none.binpb")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(code_of(""), absl::StatusCode::kDataLoss);
  EXPECT_EQ(code_of("no trace at all"), absl::StatusCode::kInvalidArgument);
  MemoTrace newer;
  newer.set_schema_version(2);
  newer.set_complete(true);
  EXPECT_EQ(code_of(newer.SerializeAsString()),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(WriteMemoTraceFile(newer, "/no/such/folder/x"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(MemoTraceFileTest, RefusesEveryCutFileAndSurvivesNoise) {
  ASSERT_THAT(WriteMemoTraceFile(SmallTrace(), Path("whole.binpb")), IsOk());
  std::ifstream file(Path("whole.binpb"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteText(Path("cut.binpb"), whole.substr(0, size));
    EXPECT_THAT(ReadMemoTraceFile(Path("cut.binpb")), Not(IsOk())) << size;
  }
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string noisy = whole;
    noisy[random() % noisy.size()] = static_cast<char>(random());
    WriteText(Path("noisy.binpb"), noisy);
    const absl::StatusOr<MemoTrace> trace =
        ReadMemoTraceFile(Path("noisy.binpb"));
    EXPECT_EQ(trace.ok(), noisy == whole);
  }
}

LoadedSize Measured(int64_t bytes, int64_t resident_bytes) {
  LoadedSize size;
  size.bytes = bytes;
  size.resident_bytes = resident_bytes;
  size.source = SizeSource::kMeasured;
  return size;
}

TEST(MemoTraceFileTest, AResidentSizeIsForgottenWithItsValue) {
  const std::string path = Path("stale.binpb");
  std::remove(path.c_str());
  const auto remember = [&](const LoadedSize& size) {
    EXPECT_THAT(RememberSizes({{"a", size}}, path), IsOk());
    return (*ReadRememberedSizes(path))["a"];
  };
  remember(Measured(10'000, 9'000));
  // This is the same value, but its resident size was not counted this time.
  EXPECT_EQ(remember(Measured(10'001, 0)).resident_bytes, 9'000);
  EXPECT_EQ(remember(Measured(100'000, 0)).resident_bytes, 0);
  EXPECT_EQ(remember(Measured(100'000, 0)).bytes, 100'000);
  // A declared size does not replace a measured one.
  LoadedSize declared;
  declared.bytes = 7;
  EXPECT_EQ(remember(declared).bytes, 100'000);
}

TEST(MemoTraceFileTest, ManyRunsMayRememberAtOnce) {
  const std::string path = Path("together.binpb");
  std::remove(path.c_str());
  std::vector<std::thread> runs;
  for (int run = 0; run < 8; ++run) {
    runs.emplace_back([&path, run] {
      for (int i = 0; i < 10; ++i) {
        const std::string name = std::to_string(run * 10 + i);
        EXPECT_THAT(RememberSizes({{name, Measured(100, 0)}}, path), IsOk());
      }
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(ReadRememberedSizes(path)->size(), 80u);
}

TEST(MemoTraceFileTest, AnEmptyOrMissingFileRemembersNothing) {
  const std::string path = Path("nothing.binpb");
  std::remove(path.c_str());
  ASSERT_THAT(ReadRememberedSizes(path), IsOk());
  WriteText(path, "");
  ASSERT_THAT(ReadRememberedSizes(path), IsOk());
  EXPECT_TRUE(ReadRememberedSizes(path)->empty());
  EXPECT_THAT(RememberSizes({{"a", Measured(100, 0)}}, path), IsOk());
  EXPECT_EQ(ReadRememberedSizes(path)->size(), 1u);
  WriteText(path, "no trace");
  EXPECT_THAT(RememberSizes({{"a", Measured(100, 0)}}, path), Not(IsOk()));
}

}  // namespace
}  // namespace footprint
