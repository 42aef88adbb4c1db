// Tests what run_page.h and comparison_page.h promise. page_structure_test.py
// tests whether a page is valid HTML, and browser_test.py how it behaves.

#include "footprint/profiling/run_page/run_page.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/run_page/comparison_page.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// A failure does not print the page, which is too long.
::testing::AssertionResult Holds(const std::string& html,
                                 const std::string& text) {
  if (absl::StrContains(html, text)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not there: " << text;
}

size_t CountOccurrences(const std::string& html, const std::string& text) {
  size_t count = 0;
  for (size_t at = html.find(text); at != std::string::npos;
       at = html.find(text, at + 1)) {
    ++count;
  }
  return count;
}

TEST(RunPageTest, BeginsWithTheFigures) {
  const std::string html = RunPage(FullRun());
  EXPECT_TRUE(Holds(html,
                    "<dt>Peak heap</dt><dd>12.0 MiB</dd>"
                    "<dd>12,582,912 B, after 3.000 s of 4.000 s, in stage "
                    "fit. In process 100: python3 train.py. 66.7 % the "
                    "program's own data, "));
  EXPECT_TRUE(Holds(html,
                    "<dt>Where</dt><dd>58.3 %</dd><dd>Which is 7.00 MiB of the "
                    "peak, was asked for by fit (train.py:12), mostly in "
                    "PyArray_NewFromDescr."));
  EXPECT_TRUE(Holds(html, "<dt>Allocator</dt><dd>8.00 MiB</dd>"));
  EXPECT_TRUE(Holds(html, "<dt>Resident</dt><dd>90.0 MiB</dd>"));
  EXPECT_TRUE(Holds(html,
                    "the program's own data 8.0 MiB (67 %), libraries 2.0 "
                    "MiB (17 %), the interpreter 1.0 MiB (8 %), of no known "
                    "call 1.0 MiB (8 %)"));
}

TEST(RunPageTest, SaysFirstWhatWasNotCounted) {
  MeasuredRun run = FullRun();
  run.set_signal_number(9);
  run.mutable_images(1)->set_has_foreign_new(true);
  const std::string html = RunPage(run);
  const size_t figures = html.find("Peak heap");
  for (const char* warning :
       {"killed by signal 9", "Blocks of dlopen", "operator new of its own"}) {
    EXPECT_LT(html.find(warning), figures) << warning;
  }
}

TEST(RunPageTest, HasASectionForEachPartOfARun) {
  const std::string html = RunPage(FullRun());
  for (const char* heading :
       {"Over time", "Where from", "Stages", "Lines of code at the peak",
        "Lines of code by volume", "Temporary allocations", "Left at exit",
        "Copies", "Processor time", "Suspected leaks", "Threads", "Processes",
        "Resident memory", "Graphics memory", "How it was measured"}) {
    EXPECT_TRUE(Holds(html, absl::StrCat("<h2>", heading, "</h2>")));
  }
  EXPECT_FALSE(Holds(html, "Not measured:"));
  EXPECT_FALSE(Holds(html, kCallPathHeading)) << "the flame graph has them";
  EXPECT_TRUE(Holds(html, ">\u00a0\u00a0epoch</th>"));
  EXPECT_TRUE(Holds(html, ">fit (left open)</th>"));
  EXPECT_TRUE(Holds(html, ">import numpy</th>"));
  EXPECT_TRUE(Holds(html, "97.5 %"));
  EXPECT_TRUE(Holds(html, ">worker</th><td>2</td><td>5.00 MiB</td>"));
  EXPECT_TRUE(Holds(html,
                    ">free in the allocator, and its bookkeeping</th>"
                    "<td>8.00 MiB</td>"));
  EXPECT_TRUE(Holds(html, "<td>600 MiB</td><td>1.000 s</td><td>100</td>"));
  EXPECT_TRUE(Holds(html, "One device tells no times"));
  EXPECT_TRUE(Holds(html, "small objects count one by one, as malloc"));
  EXPECT_TRUE(Holds(html,
                    "<dt>Container</dt>"
                    "<dd>110 MiB</dd>"));
  EXPECT_TRUE(Holds(html, "2.000 s native, 0.500 s interpreter"));
}

TEST(RunPageTest, LeavesOutWhatIsNotKnown) {
  MeasuredRun run = FullRun();
  run.mutable_images()->DeleteSubrange(1, 1);
  MeasuredImage* const image = run.mutable_images(0);
  run.clear_graphics();
  image->clear_sites();
  image->clear_timeline();
  image->clear_moments();
  image->clear_stages();
  image->clear_threads();
  image->clear_copies();
  image->clear_processor_time();
  image->clear_suspected_leaks();
  image->clear_resident_at_peak();
  image->set_has_sites(false);
  image->set_has_totals(false);
  run.set_sampling_interval_bytes(-1);
  run.clear_graphics();
  const std::string html = RunPage(run);
  EXPECT_EQ(CountOccurrences(html, "<h2>"), 1u) << "how it was measured";
  EXPECT_EQ(CountOccurrences(html, "<script"), 0u);
  EXPECT_TRUE(Holds(html,
                    "Not measured: call sites, live bytes over time, "
                    "stages (no stage was begun), copies"));
  EXPECT_EQ(CountOccurrences(html, "<dd>not measured</dd>"), 3u)
      << "where, allocated, allocator";
}

TEST(RunPageTest, IsMadeOfAnyRun) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun before = RandomRun(&random);
    const MeasuredRun after = RandomRun(&random);
    EXPECT_TRUE(Holds(RunPage(before), "</html>"));
    EXPECT_TRUE(Holds(ComparisonPage(before, after), "</html>"));
  }
  EXPECT_TRUE(Holds(RunPage(MeasuredRun()), "Nothing was measured"));
  EXPECT_TRUE(Holds(ComparisonPage(MeasuredRun(), FullRun()),
                    "Before: nothing was measured"));
}

TEST(RunPageTest, StaysSmall) {
  EXPECT_LE(RunPage(LargeRun(50'000, /*seed=*/1)).size(), kMostPageBytes);
  const std::string html = ComparisonPage(LargeRun(20'000, /*seed=*/1),
                                          LargeRun(20'000, /*seed=*/2));
  EXPECT_LE(html.size(), kMostPageBytes);
  EXPECT_TRUE(Holds(html, "<h2>Where from"));
  EXPECT_TRUE(Holds(html, " more places: "));
}

// HTML needs six bytes for every byte of these names.
TEST(RunPageTest, StaysSmallWhateverNamesThereAre) {
  MeasuredRun run = LargeRun(20'000, /*seed=*/1);
  int number = 0;
  for (CodeFrame& frame : *run.mutable_frames()) {
    frame.set_function(
        absl::StrCat(number++, std::string(500, '<'), "\xff\xff"));
  }
  EXPECT_LE(RunPage(run).size(), kMostPageBytes);
}

TEST(RunPageTest, ComparesFiguresAndLines) {
  const std::string html = ComparisonPage(FullRun(), FullRunLater());
  EXPECT_TRUE(Holds(html,
                    ">peak heap</th><td>+2.00 MiB</td><td>+16.7 %</td>"
                    "<td>12.0 MiB</td><td>14.0 MiB</td>"));
  EXPECT_TRUE(
      Holds(html,
            ">PyArray_NewFromDescr</th><td class=\"text\">ctors.c:830</td>"
            "<td>+2.00 MiB</td><td>138 KiB</td><td>7.00 MiB</td>"
            "<td>9.00 MiB</td>"));
  EXPECT_TRUE(Holds(html, "changed by less than two sigma"));
  EXPECT_TRUE(Holds(html, "Before: Blocks of dlopen"));
  EXPECT_FALSE(Holds(html, ">PyType_New<")) << "may be chance";
}

TEST(RunPageTest, ShowsTheProcessWithTheHighestPeakFirst) {
  MeasuredRun run = FullRun();
  run.mutable_images()->SwapElements(0, 1);
  const std::string html = RunPage(run);
  EXPECT_LT(html.find(">100: python3 train.py<"),
            html.find(">101: python3 worker.py<"));
  EXPECT_TRUE(Holds(html, "\" checked><label"));
}

TEST(RunPageTest, SaysOfManyProcessesThatTheyStandTogether) {
  MeasuredRun run = FullRun();
  EXPECT_TRUE(
      Holds(RunPage(run),
            "at most at once, all processes together, shared pages once"));
  run.mutable_images()->RemoveLast();
  EXPECT_FALSE(Holds(RunPage(run), "all processes together"));
}

TEST(RunPageTest, PutsStagesTogetherThatTakeLittleTime) {
  EXPECT_FALSE(Holds(RunPage(FullRun()), "other stages"));
  MeasuredRun run = FullRun();
  MeasuredImage* const image = run.mutable_images(0);
  for (int i = 0; i < 6; ++i) {
    image->add_stages()->set_name(absl::StrCat("stage of turn ", i));
  }
  for (int i = 0; i < image->timeline_size(); ++i) {
    // The last of the eleven stages has no time.
    image->mutable_timeline(i)->set_stage(static_cast<uint32_t>(i / 4));
  }
  const std::string html = RunPage(run);
  EXPECT_TRUE(Holds(html, "\"other stages\"]"));
  EXPECT_TRUE(Holds(html, "\"stage of turn 1\",\"other stages\"]"));
}

TEST(RunPageTest, ALongTimelineKeepsItsPeakAndItsEnd) {
  MeasuredRun run = FullRun();
  MeasuredImage* const image = run.mutable_images(0);
  const int64_t begin_ns = image->timeline(0).time_ns();
  image->clear_timeline();
  for (int i = 0; i <= 1000; ++i) {
    TimelinePoint* const point = image->add_timeline();
    point->set_time_ns(begin_ns + i);
    point->set_live_bytes(i == 995 ? 9999 : i == 996 ? 11 : 5000);
  }
  const std::string html = RunPage(run);
  const size_t begin = html.find("\"bytes\":[");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = html.find(']', begin);
  EXPECT_LT(end - begin, 1400) << "more than some 250 points";
  const std::string last = ",5000,9999,11,5000";
  EXPECT_EQ(html.substr(end - last.size(), last.size()), last);
}

TEST(RunPageTest, CountsTheStagesThatItLeavesOut) {
  MeasuredRun run = FullRun();
  EXPECT_FALSE(Holds(RunPage(run), " more stages."));
  // At most 40 rows are shown.
  MeasuredImage* const image = run.mutable_images(0);
  while (image->stages_size() < 41) image->add_stages()->set_name("turn");
  EXPECT_FALSE(Holds(RunPage(run), " more stages."));
  while (image->stages_size() < 1241) image->add_stages()->set_name("turn");
  EXPECT_TRUE(Holds(RunPage(run), "And 1,200 more stages."));
}

TEST(RunPageTest, HasNoProcessorTimeWhereNoneWasSampled) {
  MeasuredRun run = FullRun();
  run.mutable_images(0)->clear_processor_time();
  const std::string html = RunPage(run);
  EXPECT_TRUE(Holds(html, "<h2>Copies</h2>"));
  EXPECT_FALSE(Holds(html, "Processor time"));
  ProcessorTime* const time = run.mutable_images(0)->add_processor_time();
  time->set_call(4);
  time->set_native_ns(1);
  EXPECT_TRUE(Holds(RunPage(run), "<h2>Processor time</h2>"));
}

// Names of functions may be cut at their end; names of files lose their
// beginning.
TEST(RunPageTest, CutsLongPlacesBetweenCharacters) {
  MeasuredRun run = FullRun();
  std::string file;
  for (int i = 0; i < 60; ++i) file += "\u00e9";
  run.mutable_frames(3)->set_file(file + ".c");
  run.mutable_frames(3)->set_line(12);
  // Of the 125 bytes, the last 87 begin within a character.
  EXPECT_TRUE(
      Holds(RunPage(run),
            absl::StrCat(">PyArray_NewFromDescr</th><td class=\"text\">...",
                         file.substr(0, 82), ".c:12<")));
  run.mutable_frames(3)->set_file(std::string(87, 'f'));
  EXPECT_TRUE(
      Holds(RunPage(run),
            absl::StrCat(">PyArray_NewFromDescr</th><td class=\"text\">",
                         std::string(87, 'f'), ":12<")));
}

// A run with `count` functions, each with a thousand bytes more than the one
// before.
MeasuredRun RunOfFunctions(int count) {
  MeasuredRun run = FullRun();
  run.mutable_images()->RemoveLast();
  run.clear_frames();
  run.clear_calls();
  MeasuredImage* const image = run.mutable_images(0);
  image->clear_sites();
  image->clear_copies();
  image->clear_processor_time();
  image->clear_suspected_leaks();
  for (int i = 0; i < count; ++i) {
    CodeFrame* const frame = run.add_frames();
    frame->set_kind(CodeFrame::NATIVE);
    frame->set_function(absl::StrCat("Function", i));
    frame->set_module("/bin/program");
    run.add_calls()->set_frame(static_cast<uint32_t>(i));
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(i + 1));
    site->mutable_at_peak()->set_bytes(1000 * (i + 1));
    site->mutable_at_peak()->set_count(1);
  }
  return run;
}

TEST(RunPageTest, SaysHowMuchOfAChangeIsNotShown) {
  const std::string html =
      ComparisonPage(RunOfFunctions(0), RunOfFunctions(100));
  // Of 100 places, the smallest 60 are not shown: 1000 * 60 * 61 / 2 bytes.
  EXPECT_TRUE(Holds(html, "And 60 more places: +1.75 MiB (1,830,000 B)."));
}

}  // namespace
}  // namespace footprint
