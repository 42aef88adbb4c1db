#include "footprint/memo/trace/trace_page.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

void AddEvent(MemoTrace* trace, MemoEvent::Kind kind, const std::string& name,
              int64_t bytes, int64_t live_bytes) {
  MemoEvent* const event = trace->add_events();
  event->set_kind(kind);
  event->set_name(name);
  event->set_bytes(bytes);
  event->set_live_bytes(live_bytes);
}

// Two models in turn, with data that stay loaded.
MemoTrace TwoModels() {
  MemoTrace trace;
  trace.set_load_count(3);
  trace.set_peak_bytes(3 << 20);
  trace.mutable_plan()->set_load_count(3);
  trace.mutable_plan()->set_peak_bytes(3 << 20);
  trace.mutable_plan()->set_method("keep to last use");
  trace.mutable_plan()->set_is_optimal(true);
  MemoPlanStep* const step = trace.mutable_plan()->add_steps();
  step->set_cell("BM_Predict/model:small<1>");
  step->add_loads("small");
  step->add_loads("data");
  step->add_evictions("small");
  AddEvent(&trace, MemoEvent::LOADED, "small", 1 << 20, 1 << 20);
  AddEvent(&trace, MemoEvent::LOADED, "data", 1 << 20, 2 << 20);
  AddEvent(&trace, MemoEvent::CELL_RAN, "first", 0, 2 << 20);
  AddEvent(&trace, MemoEvent::EVICTED, "small", 1 << 20, 1 << 20);
  AddEvent(&trace, MemoEvent::LOADED, "large", 2 << 20, 3 << 20);
  AddEvent(&trace, MemoEvent::CELL_RAN, "second", 0, 3 << 20);
  AddEvent(&trace, MemoEvent::EVICTED, "large", 2 << 20, 1 << 20);
  return trace;
}

TEST(TracePageTest, ShowsPlanPeakAndEvents) {
  const std::string page = TracePage(TwoModels());
  EXPECT_THAT(page, HasSubstr("3 loads, 3 of them planned (keep to last use, "
                              "optimal). Peak of 3.0 MiB planned, 3.0 MiB "
                              "measured."));
  EXPECT_THAT(page, HasSubstr("model:small&lt;1&gt;"));
  EXPECT_THAT(page, HasSubstr("small, data"));
  EXPECT_THAT(page, HasSubstr("LOADED"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_EQ(page, TracePage(TwoModels()));
}

TEST(TracePageTest, NumbersHaveSeparatorsAndRedLinesHaveWords) {
  MemoTrace trace = TwoModels();
  trace.mutable_events(4)->set_load_peak_bytes(41943360);
  const std::string page = TracePage(trace);
  EXPECT_THAT(page, HasSubstr("2,097,152"));
  EXPECT_THAT(page, HasSubstr("3,145,728"));
  EXPECT_THAT(page, HasSubstr("41,943,360"));
  EXPECT_THAT(page, HasSubstr("planned peak 3.0 MiB"));
  EXPECT_THAT(page, HasSubstr("The level red line is the planned peak"));
  EXPECT_THAT(page, HasSubstr("the upright one is the step at which most"));
}

TEST(TracePageTest, SaysWhatAnotherOrderNeeds) {
  MemoTrace trace = TwoModels();
  trace.mutable_plan()->set_other_order_peak_bytes(2 << 20);
  EXPECT_THAT(TracePage(trace),
              HasSubstr("; in another order (--memo_order=reorder) 2.0 MiB."));
}

// The picture is no higher than what is alive together, even if a large value
// finds only two small holes.
TEST(TracePageTest, DrawsNoHigherThanThePeak) {
  MemoTrace trace;
  int64_t live_bytes = 0;
  const auto load = [&](const std::string& name, int64_t bytes) {
    live_bytes += bytes;
    AddEvent(&trace, MemoEvent::LOADED, name, bytes, live_bytes);
    AddEvent(&trace, MemoEvent::CELL_RAN, "cell", 0, live_bytes);
  };
  const auto evict = [&](const std::string& name, int64_t bytes) {
    live_bytes -= bytes;
    AddEvent(&trace, MemoEvent::EVICTED, name, bytes, live_bytes);
  };
  constexpr int64_t kMebibyte = 1 << 20;
  load("first", kMebibyte);
  load("second", kMebibyte);
  load("third", kMebibyte);
  evict("first", kMebibyte);
  evict("third", kMebibyte);
  load("large", 2 * kMebibyte);
  const std::string large = "large: 2.00 MiB (2,097,152 B) at offset ";
  EXPECT_THAT(TracePage(trace),
              AnyOf(HasSubstr(large + "0 B,"),
                    HasSubstr(large + "1.00 MiB (1,048,576 B),")));
}

TEST(TracePageTest, SaysABudgetAndWhatWentWrong) {
  MemoTrace trace = TwoModels();
  trace.mutable_plan()->set_budget_bytes(4 << 20);
  AddEvent(&trace, MemoEvent::LOAD_FAILED, "absent", 0, 0);
  trace.mutable_events(7)->set_detail("no such file");
  const std::string page = TracePage(trace);
  EXPECT_THAT(page, HasSubstr("within a budget of 4.0 MiB"));
  EXPECT_THAT(page, HasSubstr("no such file"));
}

TEST(TracePageTest, EachLoadIsOneBox) {
  const std::string page = TracePage(TwoModels());
  EXPECT_THAT(page, HasSubstr("Values alive: 3 boxes"));
  MemoTrace trace = TwoModels();
  AddEvent(&trace, MemoEvent::EVICTED, "never loaded", 1, 1);
  EXPECT_THAT(TracePage(trace), HasSubstr("Values alive: 3 boxes"));
}

TEST(TracePageTest, SizesWhoseSumIsBeyondANumberMakeNoPicture) {
  MemoTrace trace;
  AddEvent(&trace, MemoEvent::LOADED, "a", INT64_MAX, INT64_MAX);
  AddEvent(&trace, MemoEvent::LOADED, "b", INT64_MAX, INT64_MAX);
  EXPECT_THAT(TracePage(trace), Not(HasSubstr("<svg")));
}

TEST(TracePageTest, WithoutSizesThereIsNoPicture) {
  MemoTrace trace;
  AddEvent(&trace, MemoEvent::LOADED, "a", 0, 0);
  EXPECT_THAT(TracePage(trace), HasSubstr("No value of known size"));
  EXPECT_THAT(TracePage(MemoTrace()), Not(HasSubstr("<svg")));
}

}  // namespace
}  // namespace footprint
