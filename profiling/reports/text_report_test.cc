#include "footprint/profiling/reports/text_report.h"

#include <string>

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/reports/timeline_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kMiB = int64_t{1} << 20;

// main calls Load and Fit, which allocate; the run takes a second.
class TextReportTest : public testing::Test {
 protected:
  TextReportTest() {
    run_.set_wall_time_ns(1'000'000'000);
    AddCall(0, "main", CodeFrame::NATIVE);
    AddCall(1, "Load", CodeFrame::NATIVE);
    AddCall(1, "Fit", CodeFrame::NATIVE);
    AddCall(3, "operator new(unsigned long)", CodeFrame::ALLOCATOR);
    image_ = run_.add_images();
    image_->set_process_id(7);
    image_->add_command_line("train");
    image_->set_begin_time_ns(1000);
    image_->set_peak_live_bytes(100 * kMiB);
    image_->set_peak_time_ns(500'001'000);
    image_->set_has_sites(true);
    AddSite(4, 75 * kMiB);
    AddSite(2, 25 * kMiB);
  }

  void AddCall(uint32_t parent, const char* function, CodeFrame::Kind kind) {
    CodeFrame* const frame = run_.add_frames();
    frame->set_function(function);
    frame->set_kind(kind);
    frame->set_module("/home/train");
    frame->set_file("train.cc");
    frame->set_line(run_.frames_size());
    Call* const call = run_.add_calls();
    call->set_parent(parent);
    call->set_frame(static_cast<uint32_t>(run_.frames_size()) - 1);
  }

  SiteAmounts* AddSite(uint32_t call, int64_t at_peak_bytes) {
    SiteAmounts* const site = image_->add_sites();
    site->set_call(call);
    site->mutable_at_peak()->set_bytes(at_peak_bytes);
    site->mutable_at_peak()->set_count(3);
    return site;
  }

  void AddPoint(int64_t time_ns, int64_t live_bytes, uint32_t stage = 0) {
    TimelinePoint* const point = image_->add_timeline();
    point->set_time_ns(time_ns);
    point->set_live_bytes(live_bytes);
    point->set_stage(stage);
  }

  MeasuredRun run_;
  MeasuredImage* image_ = nullptr;
};

TEST_F(TextReportTest, AShortRunIsAShortText) {
  EXPECT_EQ(
      TextReport(run_),
      "peak heap  100 MiB (104,857,600 B), after 0.500 s of 1.000 s\n"
      "           100.0 % the program's own data\n"
      "resident   not measured: the program ended before it was looked at, "
      "or /proc could not be read\n"
      "\n"
      "at the peak   share  blocks  function  where\n"
      "   75.0 MiB  75.0 %       3  Fit       train.cc:3\n"
      "   25.0 MiB  25.0 %       3  Load      train.cc:2\n"
      "each allocation was recorded: the rows add up to the peak\n"
      "\n"
      "at the peak  called from  where\n"
      "    100 MiB  main         train.cc:1\n"
      "   75.0 MiB    Fit        train.cc:3\n"
      "   25.0 MiB    Load       train.cc:2\n");
}

TEST_F(TextReportTest, EstimatesCarryTheirSigma) {
  run_.set_sampling_interval_bytes(512 << 10);
  image_->mutable_sites(0)->mutable_at_peak()->set_variance(
      static_cast<double>(kMiB) * static_cast<double>(kMiB));
  const std::string text = TextReport(run_);
  EXPECT_THAT(text, HasSubstr("   75.0 MiB  75.0 %  1.00 MiB  Fit"));
  EXPECT_THAT(text, HasSubstr("a sample every 512 KiB"));
}

TEST_F(TextReportTest, AnEmptyTableIsASentence) {
  run_.set_sampling_interval_bytes(512 << 10);
  image_->clear_sites();
  EXPECT_THAT(TextReport(run_),
              HasSubstr("\n\nno call sites: no sampled block (one in 512 KiB) "
                        "was live at the peak; --sampling=0 records each "
                        "allocation\n"));
}

TEST_F(TextReportTest, RowsBelowTheThresholdAreOneRow) {
  TextOptions options;
  options.memory_threshold.percent = 50;
  const std::string text = TextReport(run_, options);
  EXPECT_THAT(text, Not(HasSubstr("25.0 MiB  25.0 %")));
  EXPECT_THAT(text, HasSubstr("and 1 more place: 25.0 MiB (26,214,400 B)"));
  AddSite(1, 5 * kMiB);
  EXPECT_THAT(TextReport(run_, options),
              HasSubstr("and 2 more places: 30.0 MiB (31,457,280 B)"));
}

TEST_F(TextReportTest, TheTimelineMarksThePeakAndTheStages) {
  image_->add_stages();
  image_->add_stages()->set_name("load");
  image_->add_stages()->set_name("fit");
  AddPoint(1000, 0);
  AddPoint(250'001'000, 50 * kMiB, 1);
  AddPoint(500'001'000, 100 * kMiB, 2);
  AddPoint(1'000'001'000, 0, 2);
  const std::string blanks(11, ' ');
  std::string blocks(14, ' ');
  for (int i = 0; i < 15; ++i) blocks += "▄";
  for (int i = 0; i < 31; ++i) blocks += "█";
  EXPECT_EQ(TimelineText(*image_),
            "timeline   " + blocks + "\n" + blanks + std::string(29, ' ') +
                "^ 100 MiB; 1.000 s in all\nstages     " +
                std::string(14, '.') + std::string(15, 'a') +
                std::string(31, 'b') + "\n" + blanks + "a load  b fit\n");
}

TEST_F(TextReportTest, TheTimelineTellsLittleFromNothing) {
  AddPoint(1000, 0);
  AddPoint(250'001'000, 1);
  AddPoint(500'001'000, 100 * kMiB);
  AddPoint(500'001'001, 0);
  AddPoint(1'000'001'000, 0);
  std::string line = "timeline   " + std::string(14, ' ');
  for (int i = 0; i < 15; ++i) line += "▁";
  EXPECT_THAT(TimelineText(*image_),
              StartsWith(line + "█" + std::string(30, ' ') + "\n"));
}

TEST_F(TextReportTest, LongPathsAreShownByTheirEnds) {
  uint32_t call = 1;
  for (int i = 0; i < 20; ++i) {
    AddCall(call, ("Step" + std::to_string(i)).c_str(), CodeFrame::NATIVE);
    call = static_cast<uint32_t>(run_.calls_size());
  }
  image_->clear_sites();
  AddSite(call, 90 * kMiB);
  const std::string text = TextReport(run_);
  EXPECT_THAT(text, HasSubstr("main"));
  EXPECT_THAT(text, HasSubstr("Step0 "));
  EXPECT_THAT(text, HasSubstr("... 15 calls"));
  EXPECT_THAT(text, Not(HasSubstr("Step15 ")));
  EXPECT_THAT(text, HasSubstr("Step16 "));
  EXPECT_THAT(text, HasSubstr("Step19 "));
}

TEST_F(TextReportTest, WhatIsKnownHasAPart) {
  image_->set_has_totals(true);
  image_->set_live_bytes(kMiB);
  image_->mutable_sites(1)->mutable_at_end()->set_bytes(kMiB);
  image_->mutable_sites(0)->set_temporary_count(12345);
  image_->add_stages();
  StageFigures* const stage = image_->add_stages();
  stage->set_name("fit\n");
  stage->set_was_left_open(true);
  stage->set_peak_live_bytes(3 * kMiB);
  for (uint32_t i = 0; i < 3; ++i) image_->add_threads()->set_number(i);
  image_->mutable_threads(2)->set_at_peak_bytes(50 * kMiB);
  SuspectedLeak* const leak = image_->add_suspected_leaks();
  leak->set_call(2);
  leak->set_probability(0.97);
  leak->set_growth_bytes_per_s(2048);
  CopyAmounts* const copy = image_->add_copies();
  copy->set_call(4);
  copy->mutable_copied()->set_bytes(7 * kMiB);
  ProcessorTime* const time = image_->add_processor_time();
  time->set_call(4);
  time->set_native_ns(750'000'000);
  time->set_system_ns(250'000'000);
  const std::string text = TextReport(run_);
  for (const char* line :
       {"    1.00 MiB       0  Load      train.cc:2\n",
        "   12,345   0  Fit       train.cc:3\n", "fit\\n (left open)\n",
        "  3.00 MiB", "     2     50.0 MiB  50.0 %",
        "        97.0 %   0 B  2.00 KiB/s  Load      train.cc:2\n",
        "on purpose and filled until the program ends looks like a leak\n",
        "7.00 MiB  100.0 %    0 B      0  Fit       train.cc:3\n",
        "1.000 s  100.0 %  0.750 s      0.000 s  0.250 s  Fit",
        "processor time 1.000 s: 0.750 s native"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(TextReportTest, WarningsNameWhatIsMissing) {
  image_->set_lost_child_count(2);
  image_->set_sites_are_incomplete(true);
  image_->add_notes("stages were not kept");
  run_.add_images()->set_process_id(8);
  run_.mutable_images(1)->set_has_foreign_new(true);
  const std::string text = TextReport(run_);
  EXPECT_THAT(text, HasSubstr("2 children of process 7 (train) could not"));
  EXPECT_THAT(text, HasSubstr("some call sites could not be stored"));
  EXPECT_THAT(text, HasSubstr("process 8 () has an operator new"));
  EXPECT_THAT(text, HasSubstr("note       stages were not kept"));
}

TEST_F(TextReportTest, ColourIsForTerminals) {
  TextOptions options;
  EXPECT_THAT(TextReport(run_, options), Not(HasSubstr("\x1b")));
  options.is_colored = true;
  EXPECT_THAT(TextReport(run_, options), StartsWith("\x1b[1mpeak heap"));
}

TEST_F(TextReportTest, NothingMeasuredIsSaid) {
  EXPECT_THAT(TextReport(MeasuredRun()), HasSubstr("nothing was measured"));
}

// For any run, no part crashes or forgets its newline.
TEST_F(TextReportTest, AnyRunHasAText) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const std::string text = TextReport(run);
    EXPECT_EQ(text.back(), '\n');
    EXPECT_THAT(text, Not(HasSubstr("\n\n\n")));
  }
}

}  // namespace
}  // namespace footprint
