#include "footprint/profiling/reports/run_report.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_text.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/reports/report_threshold.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;

// Returns a table as a terminal shows it; empty if the report does not have it.
std::string Table(const MeasuredRun& run, const std::string& heading,
                  const RunReportOptions& options = {}) {
  for (const ReportTable& table : RunReport(run, options).tables) {
    if (table.heading == heading) return TableText(table);
  }
  return "";
}

std::string Headline(const MeasuredRun& run) {
  return FiguresText(RunReport(run));
}

std::string Warnings(const MeasuredRun& run) {
  return WarningsText(RunReport(run));
}

TEST(RunReportTest, TheMachineHasEachPartOfTheResidentSet) {
  MeasuredRun run = FullRun();
  ResidentParts* const parts =
      run.mutable_images(0)->mutable_resident_at_peak();
  parts->set_heap_bytes(20 * kMiB);
  parts->set_shared_bytes(6 * kMiB);
  parts->set_swapped_bytes(7 * kMiB);
  EXPECT_EQ(Table(run, "Resident memory"),
            "resident set of process 100 near its peak, after 3.000 s:\n"
            "resident   share  part\n"
            "12.0 MiB  20.0 %  live heap\n"
            "8.00 MiB  13.3 %  free in the allocator, and its bookkeeping\n"
            "10.0 MiB  16.7 %  mapped by the program itself\n"
            "1.00 MiB   1.7 %  stacks\n"
            "20.0 MiB  33.3 %  program and libraries\n"
            "5.00 MiB   8.3 %  other files that are mapped\n"
            "6.00 MiB  10.0 %  shared with other processes\n"
            "2.00 MiB   3.3 %  memprof's agent\n"
            "1.00 MiB   1.7 %  other\n"
            "1.00 MiB   1.7 %  changed during the measurement\n"
            "page faults 15,000 without a read, 3 with one; another 7.00 MiB "
            "was swapped out\n");
  parts->set_kept_bytes(0);
  parts->set_untouched_bytes(-2 * kMiB);
  EXPECT_THAT(
      Table(run, "Resident memory"),
      AllOf(HasSubstr("10.0 MiB  16.7 %  live heap, its touched pages\n"),
            HasSubstr("\nanother 2.00 MiB of the live heap was never "
                      "touched; page faults 15,000")));
  parts->set_live_bytes(0);
  EXPECT_THAT(Table(run, "Resident memory"),
              HasSubstr("part\n20.0 MiB  33.3 %  heap\n"));
}

TEST(RunReportTest, ALimitThatCannotBeToldIsSaidToBeMissing) {
  MeasuredRun run;
  run.add_images();
  EXPECT_THAT(Headline(run), Not(HasSubstr("container"))) << "nobody looked";
  run.mutable_container_needs();
  EXPECT_THAT(Headline(run),
              HasSubstr("container  no limit is recommended: no resident set "
                        "was seen, since the program ended within 10 ms or "
                        "/proc could not be read\n"));
}

TEST(RunReportTest, GraphicsMemoryIsAProcessesOrUnknown) {
  EXPECT_EQ(Table(FullRun(), "Graphics memory"),
            "graphics     busy  process  device\n"
            " 600 MiB  1.000 s      100  0 (A graphics device)\n"
            "one device tells no times\n");
  MeasuredRun run;
  run.add_images();
  run.set_graphics_note("no library");
  EXPECT_EQ(Table(run, "Graphics memory"), "") << "no device was used";
  GraphicsMemory* const graphics = run.add_graphics();
  graphics->set_process_id(7);
  graphics->set_device(3);
  EXPECT_THAT(Table(run, "Graphics memory"),
              HasSubstr("       -  0.000 s        7  3 ()\n"));
}

TEST(RunReportTest, GraphicsMemoryMayBeTheWholeDevices) {
  MeasuredRun run;
  run.add_images();
  GraphicsMemory* const graphics = run.add_graphics();
  graphics->set_device_name("card");
  graphics->set_peak_bytes(1024);
  EXPECT_THAT(Table(run, "Graphics memory"),
              HasSubstr("1.00 KiB     -        -  0 (card), all processes, "
                        "beyond what was in use before the run\n"));
}

TEST(RunReportTest, EachProcessHasItsOwnPeakAndEnd) {
  MeasuredRun run = FullRun();
  const std::string text = Table(run, "Processes");
  EXPECT_THAT(text, HasSubstr("    100       1  0.000 s  12.0 MiB  60.0 MiB  "
                              "exit    python3 train.py\n"));
  EXPECT_THAT(text, HasSubstr("    101     100  1.000 s  3.00 MiB         -  "
                              "killed  python3 worker.py\n"));
  run.mutable_images(0)->set_end(MeasuredImage::BECAME_ANOTHER);
  run.mutable_images(1)->set_end(MeasuredImage::RUNS_ON);
  EXPECT_THAT(Table(run, "Processes"),
              HasSubstr("  exec     python3 train.py"));
  EXPECT_THAT(Table(run, "Processes"),
              HasSubstr("  runs on  python3 worker.py"));
  run.mutable_images(0)->set_end(MeasuredImage::EXITED_AT_ONCE);
  run.mutable_images(1)->set_end(MeasuredImage::UNKNOWN);
  EXPECT_THAT(Table(run, "Processes"),
              HasSubstr("  exit     python3 train.py"));
  EXPECT_THAT(Table(run, "Processes"),
              HasSubstr("  unknown  python3 worker.py"));
  run.mutable_images()->RemoveLast();
  EXPECT_EQ(Table(run, "Processes"), "") << "one process is the headline's";
}

TEST(RunReportTest, OfManyProcessesTheLargestAndTheKilledAreShown) {
  MeasuredRun run;
  for (int i = 0; i < 30; ++i) {
    MeasuredImage* const image = run.add_images();
    image->set_process_id(100 + i);
    image->set_end(MeasuredImage::EXITED);
    image->set_peak_live_bytes((i + 1) * kMiB);
  }
  // Image 0 needed least in its heap, but most in all.
  run.mutable_images(0)->set_peak_resident_bytes(900 * kMiB);
  run.mutable_images(2)->set_end(MeasuredImage::KILLED);
  const std::string text = Table(run, "Processes");
  for (const char* shown : {"    100 ", "    102 ", "    107 ", "    129 "}) {
    EXPECT_THAT(text, HasSubstr(shown));
  }
  for (const char* left_out : {"    101 ", "    103 ", "    106 "}) {
    EXPECT_THAT(text, Not(HasSubstr(left_out)));
  }
  EXPECT_THAT(text, HasSubstr("and 5 more processes: 24.0 MiB (25,165,824 B)\n"
                              "--json=FILE has every process\n"));
  EXPECT_LT(text.find("    100 "), text.find("    107 "));
}

TEST(RunReportTest, ThreadsWithMostStandFirstAndTheLastAreCounted) {
  MeasuredRun run;
  MeasuredImage& image = *run.add_images();
  image.set_peak_live_bytes(100 * kMiB);
  for (uint32_t i = 0; i < 2; ++i) image.add_threads()->set_number(i);
  EXPECT_EQ(Table(run, "Threads"), "") << "one thread, and none";
  for (uint32_t i = 2; i <= 11; ++i) {
    MeasuredThread* const thread = image.add_threads();
    thread->set_number(i);
    thread->set_at_peak_bytes(i * kMiB);
    thread->set_allocated_bytes(3 * i * kMiB);
  }
  image.mutable_threads(11)->set_name("work\ner");
  image.mutable_threads(0)->set_allocated_bytes(kMiB);
  const std::string text = Table(run, "Threads");
  EXPECT_THAT(text, HasSubstr("name\n    11     11.0 MiB  11.0 %   33.0 MiB  "
                              "work\\ner\n"));
  EXPECT_THAT(text, HasSubstr("     4     4.00 MiB"));
  EXPECT_THAT(text, Not(HasSubstr("     3     3.00 MiB")));
  // These are threads 2, 3 and the unknown one; thread 1 had nothing.
  EXPECT_THAT(text, HasSubstr("and 3 more threads: 5.00 MiB (5,242,880 B)\n"));
}

// A run with six functions, F1 to F6.
MeasuredRun SixPlaces() {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  image->set_has_sites(true);
  image->set_has_totals(true);
  image->set_peak_live_bytes(100 * kMiB);
  image->set_live_bytes(21 * kMiB);
  for (int i = 1; i <= 6; ++i) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function(absl::StrCat("F", i));
    frame->set_kind(CodeFrame::NATIVE);
    run.add_calls()->set_frame(static_cast<uint32_t>(i - 1));
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(i));
    site->mutable_at_end()->set_bytes(i * kMiB);
    site->mutable_at_end()->set_count(i);
    site->set_temporary_count(10 * i);
    site->mutable_allocated()->set_count(100 * i);
  }
  return run;
}

TEST(RunReportTest, WhatIsLeftStandsByItsBytes) {
  MeasuredRun run = SixPlaces();
  const std::string text = Table(run, "Left at exit");
  EXPECT_THAT(text, HasSubstr("where\n    6.00 MiB       6  F6"));
  EXPECT_THAT(text, HasSubstr("    2.00 MiB       2  F2"));
  EXPECT_THAT(text, Not(HasSubstr("F1"))) << "five rows";
  EXPECT_THAT(text, HasSubstr("and 1 more place: 1.00 MiB (1,048,576 B)\n"));
  run.mutable_images(0)->set_has_totals(false);
  EXPECT_EQ(Table(run, "Left at exit"), "") << "the end was not seen";
  run.mutable_images(0)->set_has_totals(true);
  run.mutable_images(0)->set_live_bytes(0);
  EXPECT_EQ(Table(run, "Left at exit"), "") << "nothing is left in all";
  run.mutable_images(0)->set_live_bytes(kMiB);
  run.mutable_images(0)->clear_sites();
  EXPECT_EQ(Table(run, "Left at exit"), "") << "nobody knows where";
}

TEST(RunReportTest, TemporaryBlocksOfAllPlacesAreCounted) {
  MeasuredRun run = SixPlaces();
  const std::string text = Table(run, "Temporary allocations");
  EXPECT_THAT(text, HasSubstr("where\n       60  600  F6"));
  EXPECT_THAT(text, Not(HasSubstr("F1"))) << "five rows";
  EXPECT_THAT(text, HasSubstr("\n210 in all were freed"));
  run.set_sampling_interval_bytes(1 << 19);
  EXPECT_THAT(Table(run, "Temporary allocations"),
              HasSubstr("allocation, estimated from the samples\n"));
  run.mutable_images(0)->clear_sites();
  EXPECT_EQ(Table(run, "Temporary allocations"), "");
}

TEST(RunReportTest, ProcessorTimeIsOfAllProcessesAndItsCallMayBeUnknown) {
  MeasuredRun run = FullRun();
  ProcessorTime* const time = run.mutable_images(1)->add_processor_time();
  time->set_native_ns(250'000'000);
  time->set_sample_count(5);
  const std::string text = Table(run, "Processor time");
  EXPECT_THAT(text, HasSubstr("processor time 3.000 s: 2.250 s native, 0.500 s "
                              "interpreter, 0.250 s system; in 305 samples\n"));
  EXPECT_THAT(text, HasSubstr("where\n"
                              "2.750 s  91.7 %  2.000 s      0.500 s  0.250 s  "
                              "PyArray_NewFromDescr"));
  EXPECT_THAT(text, HasSubstr("0.250 s   8.3 %  0.250 s      0.000 s  0.000 s  "
                              "[call unknown]"));
  RunReportOptions options;
  options.cpu_threshold.percent = 10;
  const std::string shortened = Table(run, "Processor time", options);
  EXPECT_THAT(shortened, Not(HasSubstr("[call")));
  EXPECT_THAT(shortened, HasSubstr("and 1 more place: 0.250 s\n"));
  EXPECT_EQ(Table(MeasuredRun(), "Processor time"), "");
}

TEST(RunReportTest, CopiesHaveTheSigmaOfTheirSum) {
  MeasuredRun run = FullRun();
  Amount* const copied =
      run.mutable_images(0)->mutable_copies(0)->mutable_copied();
  copied->set_bytes(2 * kMiB);
  copied->set_variance(2.0 * static_cast<double>(kMiB * kMiB));
  const std::string text = Table(run, "Copies");
  EXPECT_THAT(text, HasSubstr("copied 2.00 MiB by calls of memcpy"));
  // Sigma is the root of 2 (1 + 2 / 2).
  EXPECT_THAT(text, HasSubstr("2.00 MiB  100.0 %  2.00 MiB      9  "
                              "PyArray_NewFromDescr"));
  EXPECT_EQ(Table(MeasuredRun(), "Copies"), "");
}

TEST(RunReportTest, OneChildIsOneChild) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  run.set_sampling_interval_bytes(-1);
  image->set_lost_child_count(1);
  EXPECT_THAT(Warnings(run), HasSubstr("    1 child of process 0"));
  image->set_lost_child_count(0);
  run.set_sampling_interval_bytes(0);
  EXPECT_THAT(Warnings(run), HasSubstr("call sites were not recorded"));
}

TEST(RunReportTest, ProcessesWithoutARecordAreNamed) {
  MeasuredRun run;
  run.add_images();
  run.set_sampling_interval_bytes(-1);
  EXPECT_THAT(Warnings(run), Not(HasSubstr("no record")));
  run.set_unrecorded_process_count(1);
  run.add_unrecorded_programs("busy\nbox");
  EXPECT_THAT(Warnings(run),
              HasSubstr("warning    1 process (busy\\nbox) left no record and "
                        "is in no figure"));
  run.set_unrecorded_process_count(1200);
  for (const char* name : {"a", "b", "c"}) run.add_unrecorded_programs(name);
  EXPECT_THAT(Warnings(run),
              HasSubstr("1,200 processes (busy\\nbox, a, b, c) left"));
  run.add_unrecorded_programs("d");
  EXPECT_THAT(Warnings(run), HasSubstr("a, b, c, ...) left"));
}

TEST(RunReportTest, WhatProcessesShareIsNamedBesideTheirSum) {
  MeasuredRun run = FullRun();
  run.set_peak_resident_once_bytes(80 * kMiB);
  EXPECT_THAT(Headline(run),
              HasSubstr("resident   80.0 MiB (83,886,080 B), at most at once, "
                        "all processes together, shared pages once\n"
                        "           90.0 MiB as the sum of what each has, "
                        "shared pages once a process\n"));
}

TEST(RunReportTest, AResidentSetThatNobodySawIsNotZero) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  EXPECT_THAT(Headline(run), HasSubstr("resident   not measured: "));
  image->set_peak_resident_bytes(kMiB);
  EXPECT_THAT(Headline(run),
              HasSubstr("resident   1.00 MiB (1,048,576 B), at most\n"));
}

TEST(RunReportTest, AForksFiguresAreOfItsWholeHeapAndItsOwnIsNamed) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  image->set_peak_live_bytes(40 * kMiB);
  EXPECT_THAT(Headline(run), Not(HasSubstr("its own")));
  image->set_inherited_live_bytes(18 * kMiB);
  EXPECT_THAT(Headline(run), HasSubstr("peak heap  40.0 MiB ("));
  EXPECT_THAT(Headline(run),
              HasSubstr("22.0 MiB of this is its own, on top of the 18.0 MiB "
                        "that it had from its parent by fork"));
}

TEST(RunReportTest, AProgramThatASignalKilledIsSaidToBe) {
  MeasuredRun run;
  run.add_images();
  run.set_sampling_interval_bytes(-1);
  EXPECT_THAT(Warnings(run), Not(HasSubstr("killed")));
  run.set_signal_number(9);
  EXPECT_THAT(Warnings(run),
              HasSubstr("warning    the program was killed by signal 9 "
                        "(Killed)"));
}

TEST(RunReportTest, AHeapThatTellsTooLittleIsNamed) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  run.set_sampling_interval_bytes(-1);
  image->set_process_id(7);
  image->set_peak_live_bytes(kMiB);
  image->set_peak_resident_bytes(12 * kMiB);
  EXPECT_THAT(Warnings(run), Not(HasSubstr("leaves out")));
  image->set_peak_resident_bytes(81 * kMiB);
  EXPECT_THAT(Warnings(run), HasSubstr("leaves out 80.0 MiB of 81.0 MiB"));
}

TEST(RunReportTest, ALimitThatIsNotRecommendedHasAReason) {
  MeasuredRun run;
  run.add_images();
  run.mutable_container_needs()->set_unknown("2 processes left no record");
  EXPECT_THAT(Headline(run), HasSubstr("container  no limit is recommended: 2 "
                                       "processes left no record\n"));
  run.mutable_container_needs()->clear_unknown();
  run.mutable_container_needs()->set_limit_bytes(100 * kMiB);
  run.mutable_container_needs()->set_memory_file_bytes(60 * kMiB);
  EXPECT_THAT(Headline(run),
              HasSubstr("container  100 MiB (104,857,600 B), a limit"));
  EXPECT_THAT(Headline(run),
              HasSubstr("60.0 MiB of files in memory (tmpfs), "));
  EXPECT_THAT(Headline(run), Not(HasSubstr("mapped files")));
  run.mutable_container_needs()->set_mapped_file_bytes(40 * kMiB);
  EXPECT_THAT(Headline(run), HasSubstr("without memprof and mapped files, "));
  EXPECT_THAT(Headline(run),
              HasSubstr("40.0 MiB more keep the mapped files in memory; "));
}

TEST(RunReportTest, PartsFarBelowThePeakAreNotCalledNearIt) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  image->set_process_id(7);
  image->set_peak_resident_bytes(66 * kMiB);
  image->mutable_resident_at_peak()->set_resident_bytes(65 * kMiB);
  EXPECT_THAT(Table(run, "Resident memory"),
              HasSubstr("resident set of process 7 near its peak, after"));
  image->mutable_resident_at_peak()->set_resident_bytes(3 * kMiB);
  EXPECT_THAT(
      Table(run, "Resident memory"),
      HasSubstr("resident set of process 7, 63.0 MiB below its peak, after"));
}

TEST(RunReportTest, TheHeadlineTellsTheLargestProcessFromAll) {
  EXPECT_EQ(
      Headline(FullRun()),
      "peak heap  12.0 MiB (12,582,912 B), after 3.000 s of 4.000 s, in stage "
      "fit\n"
      "           in process 100: python3 train.py\n"
      "           66.7 % the program's own data, 16.7 % libraries, 8.3 % the "
      "interpreter, 8.3 % call unknown\n"
      "resident   90.0 MiB (94,371,840 B), at most at once, all processes "
      "together, shared pages once\n"
      "mapped     30.0 MiB (31,457,280 B), addresses that the program mapped "
      "itself\n"
      "allocated  40.0 MiB (41,943,040 B), in 12,345 calls; left at exit 1.00 "
      "MiB (1,048,576 B)\n"
      "container  110 MiB (115,343,360 B), a limit that has room for this run: "
      "88.0 MiB resident, shared pages once and without memprof, 2.00 MiB of "
      "page tables and kernel stacks, and 20.0 MiB for what differs between "
      "runs\n");
}

TEST(RunReportTest, TheHeadlineNamesTheThreePlacesThatMappedMost) {
  MeasuredRun run = NestedRun();
  run.mutable_frames(1)->set_file("/source/fit.cc");
  run.mutable_frames(1)->set_line(31);
  MeasuredImage* const image = run.add_images();
  image->set_peak_mapped_bytes(15 * kMiB);
  for (const uint32_t call : {0u, 1u, 2u, 5u, 3u}) {
    MappingAmounts* const mapping = image->add_mappings();
    mapping->set_call(call);
    mapping->set_at_peak_bytes(call * kMiB + 1);
  }
  EXPECT_THAT(
      Headline(run),
      HasSubstr("mapped itself\n"
                "           10.0 MiB were mapped by Fit (/source/fit.cc:31)\n"
                "           1.00 MiB were mapped by main\n"
                "           1 B were mapped by [before the agent "
                "began]"));
}

TEST(RunReportTest, WhatATerminalLeavesOutIsInTheReport) {
  std::string details;
  for (const ReportFigure& figure : RunReport(FullRun()).figures) {
    if (!figure.is_detail) continue;
    absl::StrAppend(&details, figure.name, " ", WriteValue(figure.value), ", ",
                    figure.detail, "\n");
  }
  EXPECT_THAT(details,
              HasSubstr("where 58.3 %, which is 7.00 MiB of the peak, "
                        "was asked for by fit (train.py:12), mostly in "
                        "PyArray_NewFromDescr\n"));
  EXPECT_THAT(details, HasSubstr("calls 12,345, of malloc\n"));
  EXPECT_THAT(details, HasSubstr("left at exit 1.00 MiB, never freed\n"));
  EXPECT_THAT(details,
              HasSubstr("allocator 8.00 MiB, kept by glibc 2.36 beyond"));
  EXPECT_THAT(details, HasSubstr("time 4.000 s"));
  EXPECT_THAT(Table(FullRun(), "Whose data the peak is"),
              HasSubstr("   8.00 MiB  66.7 %  the program's own data\n"));
  EXPECT_THAT(Table(FullRun(), "Lines of code by volume"),
              HasSubstr("PyArray_NewFromDescr"));
}

TEST(RunReportTest, OwnLinesStandFirstWithWhatTheyCalled) {
  const Report report = RunReport(FullRun());
  size_t own = report.tables.size();
  size_t all = report.tables.size();
  for (size_t i = 0; i < report.tables.size(); ++i) {
    if (report.tables[i].heading == "Your lines at the peak") own = i;
    if (report.tables[i].heading == "Lines of code at the peak") all = i;
  }
  EXPECT_LT(own, all);
  EXPECT_THAT(Table(FullRun(), "Your lines at the peak"),
              HasSubstr("  fit -> PyArray_NewFromDescr  train.py:12\n"));
  EXPECT_THAT(Table(FullRun(), "Your lines at the peak"),
              HasSubstr("of the peak have none\n"));
}

TEST(RunReportTest, SourceStandsBesideTheLinesThatHaveOne) {
  RunReportOptions options;
  options.source = [](const CodeFrame& frame) {
    return frame.file() == "train.py" && frame.line() == 12
               ? std::string("x = numpy.zeros(count)\x1b[31m")
               : std::string();
  };
  EXPECT_THAT(Table(FullRun(), "Your lines at the peak", options),
              HasSubstr("train.py:12  x = numpy.zeros(count)"));
  EXPECT_THAT(Table(FullRun(), "Your lines at the peak", options),
              Not(HasSubstr("\x1b")));
  options.source = [](const CodeFrame&) { return std::string(); };
  for (const char* heading :
       {"Your lines at the peak", "Lines of code at the peak"}) {
    EXPECT_EQ(Table(FullRun(), heading, options), Table(FullRun(), heading));
  }
}

TEST(RunReportTest, MemoryThatWasNeverTouchedDoesNotLead) {
  MeasuredRun run = FullRun();
  MeasuredImage* const image = run.mutable_images(0);
  EXPECT_EQ(RunReport(run).figures[0].name, "peak heap");
  image->set_peak_resident_bytes(image->peak_live_bytes() - kMiB);
  image->clear_resident_at_peak();
  const Report report = RunReport(run);
  EXPECT_EQ(report.figures[0].name, "resident");
  EXPECT_EQ(report.figures[1].name, "peak heap");
  EXPECT_THAT(report.figures[1].notes,
              ::testing::Contains(HasSubstr(
                  "at least 1.00 MiB of it was allocated and never touched")));
  image->set_peak_resident_bytes(image->peak_live_bytes());
  EXPECT_EQ(RunReport(run).figures[0].name, "peak heap");
  image->set_peak_resident_bytes(0);
  EXPECT_EQ(RunReport(run).figures[0].name, "peak heap") << "nobody looked";
}

// A script whose lines import modules, the largest first.
MeasuredRun RunOfImports(const std::vector<std::string>& files) {
  MeasuredRun run = FullRun();
  MeasuredImage* const image = run.mutable_images(0);
  image->clear_sites();
  int64_t bytes = image->peak_live_bytes() / 2;
  const auto add_call = [&run](const std::string& file, int line,
                               uint32_t parent) {
    CodeFrame* const frame = run.add_frames();
    frame->set_kind(CodeFrame::PYTHON);
    frame->set_function("<module>");
    frame->set_file(file);
    frame->set_line(line);
    Call* const call = run.add_calls();
    call->set_parent(parent);
    call->set_frame(static_cast<uint32_t>(run.frames_size() - 1));
    return static_cast<uint32_t>(run.calls_size());
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const uint32_t own = add_call("train.py", static_cast<int>(i) + 1, 0);
    SiteAmounts* const site = image->add_sites();
    site->set_call(add_call(files[i], 1, own));
    site->mutable_at_peak()->set_bytes(bytes);
    bytes /= 2;
  }
  return run;
}

TEST(RunReportTest, ImportsAreNamedAsTheScriptNamesThem) {
  const std::string table =
      Table(RunOfImports({"/usr/lib/python3/dist-packages/numpy/__init__.py",
                          "/usr/lib/python3.11/json.py"}),
            "Your lines at the peak");
  EXPECT_THAT(table, HasSubstr("  <module> -> import of numpy  train.py:1\n"));
  EXPECT_THAT(table, HasSubstr("  <module> -> import of json   train.py:2\n"));
}

TEST(RunReportTest, OwnLinesThatAreNotShownAreCountedAndSummed) {
  const MeasuredRun run =
      RunOfImports({"/usr/lib/python3.11/a.py", "/usr/lib/python3.11/b.py",
                    "/usr/lib/python3.11/c.py"});
  RunReportOptions options;
  options.most_rows = 1;
  for (const ReportTable& table : RunReport(run, options).tables) {
    if (table.heading != "Your lines at the peak") continue;
    EXPECT_EQ(table.rows.size(), 1u);
    EXPECT_EQ(table.other_count, 2);
    // The line with a half is shown; those with a quarter and an eighth are
    // not.
    EXPECT_EQ(table.other_sum, run.images(0).peak_live_bytes() / 4 +
                                   run.images(0).peak_live_bytes() / 8);
    ASSERT_EQ(table.compared.size(), 1u);
    EXPECT_EQ(table.columns[table.compared[0].column].name, "your lines");
  }
}

// A native program whose own lines allocate has one table.
TEST(RunReportTest, OwnLinesThatAreAllLinesAreNotRepeated) {
  MeasuredRun run = FullRun();
  CodeFrame* const frame = run.add_frames();
  frame->set_kind(CodeFrame::NATIVE);
  frame->set_file("/home/me/train.cc");
  frame->set_module("/home/me/train");
  frame->set_function("Fit");
  run.add_calls()->set_frame(static_cast<uint32_t>(run.frames_size() - 1));
  MeasuredImage* const image = run.mutable_images(0);
  image->set_executable("/home/me/train");
  image->clear_interpreter();
  image->clear_sites();
  SiteAmounts* const site = image->add_sites();
  site->set_call(static_cast<uint32_t>(run.calls_size()));
  site->mutable_at_peak()->set_bytes(image->peak_live_bytes());
  EXPECT_EQ(Table(run, "Your lines at the peak"), "");
  EXPECT_THAT(Table(run, "Lines of code at the peak"), HasSubstr("Fit"));
  // The estimate is below the peak, and nothing is left out.
  site->mutable_at_peak()->set_bytes(image->peak_live_bytes() / 2);
  EXPECT_EQ(Table(run, "Your lines at the peak"), "");
  // The same amount again is in no own line.
  image->add_sites()->mutable_at_peak()->set_bytes(image->peak_live_bytes() /
                                                   2);
  EXPECT_THAT(Table(run, "Your lines at the peak"), HasSubstr("Fit"));
}

TEST(RunReportTest, HowItWasMeasuredIsSaid) {
  MeasuredRun run = FullRun();
  std::string remarks;
  for (const std::string& each : RunReport(run).remarks) {
    absl::StrAppend(&remarks, each, "\n");
  }
  EXPECT_THAT(remarks, HasSubstr("call sites are estimates from a sample"));
  EXPECT_THAT(remarks, HasSubstr("small objects count one by one"));
  EXPECT_THAT(remarks, Not(HasSubstr("not measured")));
  run.mutable_images(0)->clear_copies();
  run.mutable_images(0)->clear_stages();
  const std::vector<std::string> fewer = RunReport(run).remarks;
  EXPECT_THAT(fewer.back(),
              HasSubstr("not measured: stages (no stage was begun), copies"));
}

// Stages: 1 import numpy, 2 warm, 3 serve with 4 a file inside, 5 stop.
MeasuredRun RunOfStages() {
  MeasuredRun run = FullRun();
  MeasuredImage* const image = run.mutable_images(0);
  image->clear_sites();
  image->clear_stages();
  image->add_stages();
  const auto add = [image](const char* name, StageFigures::Kind kind,
                           uint32_t parent) {
    StageFigures* const stage = image->add_stages();
    stage->set_name(name);
    stage->set_kind(kind);
    stage->set_parent(parent);
    stage->set_begin_time_ns(1000 * image->stages_size());
  };
  add("numpy", StageFigures::IMPORT, 0);
  add("warm", StageFigures::NAMED, 0);
  add("serve", StageFigures::NAMED, 0);
  add("rows.csv", StageFigures::FILE, 3);
  add("stop", StageFigures::NAMED, 0);
  for (uint32_t stage = 0; stage <= 5; ++stage) {
    for (int i = 0; i < 2; ++i) {
      SiteAmounts* const site = image->add_sites();
      site->set_call(3);
      site->set_stage(stage);
      site->mutable_at_end()->set_bytes((int64_t{1} << stage) * kMiB);
      site->mutable_at_end()->set_count(stage);
    }
  }
  return run;
}

TEST(RunReportTest, WhatStagesLeftStandsByTheStage) {
  const std::string named = Table(RunOfStages(), "Left by stages");
  EXPECT_THAT(named, HasSubstr("     64.0 MiB    0 B      10  stop   fit"));
  EXPECT_THAT(named, HasSubstr("     16.0 MiB    0 B       6  serve  fit"));
  EXPECT_THAT(named, HasSubstr("     8.00 MiB    0 B       4  warm   fit"));
  EXPECT_THAT(named, Not(HasSubstr("numpy")));
  EXPECT_THAT(named, HasSubstr("still there at the program's end\n"));
  MeasuredRun run = RunOfStages();
  run.mutable_images(0)->set_has_totals(false);
  EXPECT_EQ(Table(run, "Left by stages"), "") << "its end was not seen";
}

TEST(RunReportTest, WhatIsLeftMayBeAskedForBetweenTwoStages) {
  RunReportOptions options;
  options.left_from = "warm";
  options.left_until = "stop";
  const std::string between = Table(RunOfStages(), "Left by stages", options);
  EXPECT_THAT(between, HasSubstr("  serve / rows.csv  fit"));
  EXPECT_THAT(between, HasSubstr("  serve             fit"));
  EXPECT_THAT(between, HasSubstr("  warm              fit"));
  EXPECT_THAT(between, Not(HasSubstr("  numpy")));
  EXPECT_THAT(between, Not(HasSubstr("  stop")));
  EXPECT_THAT(between, HasSubstr("allocated in stages that began from warm on "
                                 "and before stop, and still there"));
  options.left_until = "";
  EXPECT_THAT(Table(RunOfStages(), "Left by stages", options),
              HasSubstr("  stop"));
  options.left_until = "halt";
  EXPECT_EQ(Table(RunOfStages(), "Left by stages", options), "");
  EXPECT_THAT(WarningsText(RunReport(RunOfStages(), options)),
              HasSubstr("no stage is called halt"));
}

TEST(RunReportTest, AtMostSoManyRowsAreMade) {
  RunReportOptions options;
  options.most_rows = 2;
  for (const ReportTable& table : RunReport(SixPlaces(), options).tables) {
    EXPECT_LE(table.rows.size(), 2u) << table.heading;
    if (table.heading == "Left at exit") {
      EXPECT_EQ(table.other_count, 4);
      EXPECT_EQ(table.other_sum, 10 * kMiB);
    }
  }
}

MeasuredImage Image() {
  MeasuredImage image;
  image.set_peak_live_bytes(1000);
  image.set_allocated_bytes(4000);
  image.add_stages();
  return image;
}

StageFigures* Add(const std::string& name, StageFigures::Kind kind,
                  uint32_t parent, int64_t peak_bytes, MeasuredImage* image) {
  StageFigures* const stage = image->add_stages();
  stage->set_name(name);
  stage->set_kind(kind);
  stage->set_parent(parent);
  stage->set_peak_live_bytes(peak_bytes);
  return stage;
}

std::string StageText(const MeasuredImage& image) {
  MeasuredRun run;
  *run.add_images() = image;
  return Table(run, "Stages");
}

size_t FindColumn(const std::string& text, size_t at) {
  return at - (text.rfind('\n', at) + 1);
}

TEST(RunReportStagesTest, IsEmptyWithoutStages) {
  EXPECT_EQ(StageText(MeasuredImage()), "");
  EXPECT_EQ(StageText(Image()), "");
}

TEST(RunReportStagesTest, StandsAsATreeWithMostFirst) {
  MeasuredImage image = Image();
  Add("numpy", StageFigures::IMPORT, 0, 100, &image);
  StageFigures* const fit = Add("fit", StageFigures::NAMED, 0, 500, &image);
  fit->set_allocated_bytes(1000);
  fit->set_visit_count(3);
  fit->set_wall_time_ns(1500000000);
  fit->set_was_left_open(true);
  Add("a\nb.csv", StageFigures::FILE, 2, 20, &image);
  const std::string text = StageText(image);
  const size_t fit_at = text.find("fit (left open)");
  const size_t file_at = text.find("file a");
  const size_t numpy_at = text.find("import numpy");
  ASSERT_NE(fit_at, std::string::npos);
  ASSERT_NE(file_at, std::string::npos);
  ASSERT_NE(numpy_at, std::string::npos);
  EXPECT_LT(fit_at, file_at);
  EXPECT_LT(file_at, numpy_at);
  // The file is indented below the stage that it is inside.
  EXPECT_EQ(FindColumn(text, file_at), FindColumn(text, fit_at) + 2);
  EXPECT_EQ(FindColumn(text, numpy_at), FindColumn(text, fit_at));
  EXPECT_THAT(text, HasSubstr("50.0 %"));
  EXPECT_THAT(text, HasSubstr("25.0 %"));
  EXPECT_THAT(text, HasSubstr("1.500 s"));
  EXPECT_THAT(text, Not(HasSubstr("a\nb")));
}

TEST(RunReportStagesTest, WhatNeededLittleIsCountedOnly) {
  MeasuredImage image = Image();
  for (int i = 0; i < 100; ++i) {
    Add(absl::StrCat("m", i), StageFigures::IMPORT, 0, 1, &image);
  }
  Add("named", StageFigures::NAMED, 0, 0, &image);
  const std::string text = StageText(image);
  EXPECT_THAT(text, HasSubstr("named"));
  EXPECT_THAT(text, HasSubstr("and 100 more stages"));
  EXPECT_THAT(text, Not(HasSubstr("import")));
}

TEST(RunReportStagesTest, WhatOnlyPassesBytesThroughIsShown) {
  MeasuredImage image = Image();
  Add("decompress", StageFigures::IMPORT, 0, 1, &image)
      ->set_allocated_bytes(2000);
  EXPECT_THAT(StageText(image), HasSubstr("import decompress"));
}

// A comparison must not take a stage that is too small to be shown for one that
// is missing.
TEST(RunReportStagesTest, ForComparisonsTheSmallOnesAreThere) {
  MeasuredRun run;
  MeasuredImage image = Image();
  Add("small", StageFigures::IMPORT, 0, 1, &image);
  *run.add_images() = image;
  RunReportOptions options;
  options.has_small_stages = true;
  EXPECT_THAT(Table(run, "Stages", options), HasSubstr("import small"));
}

}  // namespace
}  // namespace footprint
