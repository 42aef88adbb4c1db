// Tests of the promises of text_parts.h on parts that text_report_test and
// stage_text_test see little of.

#include "footprint/profiling/reports/text_parts.h"

#include <string>
#include <vector>

#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/reports/report_threshold.h"
#include "footprint/profiling/runs/site_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(TextPartsTest, TheMachineHasEachPartOfTheResidentSet) {
  MeasuredRun run = FullRun();
  ResidentParts* const parts =
      run.mutable_images(0)->mutable_resident_at_peak();
  parts->set_heap_bytes(20 * kMiB);
  parts->set_shared_bytes(6 * kMiB);
  parts->set_swapped_bytes(7 * kMiB);
  EXPECT_EQ(MachineText(run, run.images(0)),
            "resident set of process 100 near its peak, after 3.000 s:\n"
            "  20.0 MiB  the heap: 12.0 MiB live in the program, 1.00 MiB kept "
            "for threads, 2.00 MiB beside live blocks, 3.00 MiB of "
            "bookkeeping, 4.00 MiB freed and not given back yet, less 2.00 MiB "
            "never touched\n"
            "  10.0 MiB  mapped by the program itself\n"
            "  1.00 MiB  stacks\n"
            "  20.0 MiB  program and libraries, as files have them\n"
            "  5.00 MiB  other files that are mapped\n"
            "  6.00 MiB  shared with other processes\n"
            "  2.00 MiB  memprof's agent\n"
            "  1.00 MiB  other\n"
            "  1.00 MiB  came or went while it was looked at\n"
            "  7.00 MiB  swapped out besides\n"
            "page faults 15,000 without a read, 3 with one\n"
            "graphics   600 MiB (629,145,600 B) on device 0 (A graphics "
            "device) in process 100, busy 1.000 s\n"
            "           one device tells no times\n"
            "container  a limit of 110 MiB has room for this run: 88.0 MiB "
            "resident, shared pages once and without memprof, 2.00 MiB of page "
            "tables and kernel stacks, and a twentieth for what differs "
            "between runs\n");
  parts->set_live_bytes(0);
  EXPECT_THAT(MachineText(run, run.images(0)),
              HasSubstr("  20.0 MiB  the heap\n"));
}

TEST(TextPartsTest, ALimitThatCannotBeToldIsSaidToBeMissing) {
  MeasuredRun run;
  run.add_images();
  EXPECT_EQ(MachineText(run, run.images(0)), "") << "nobody looked";
  run.mutable_container_needs();
  EXPECT_EQ(MachineText(run, run.images(0)),
            "container  no limit is recommended: no resident set was seen, "
            "since the program ended within 10 ms or /proc could not be "
            "read\n");
}

TEST(TextPartsTest, GraphicsMemoryMayBeUnknown) {
  MeasuredRun run;
  run.add_images();
  run.set_graphics_note("no library");
  EXPECT_EQ(MachineText(run, run.images(0)), "") << "no device was used";
  GraphicsMemory* const graphics = run.add_graphics();
  graphics->set_process_id(7);
  graphics->set_device(3);
  EXPECT_THAT(MachineText(run, run.images(0)),
              HasSubstr("graphics   unknown bytes on device 3 ()"));
}

TEST(TextPartsTest, GraphicsMemoryMayBeTheWholeDevices) {
  MeasuredRun run;
  run.add_images();
  GraphicsMemory* const graphics = run.add_graphics();
  graphics->set_device_name("card");
  graphics->set_peak_bytes(1024);
  EXPECT_EQ(MachineText(run, run.images(0)),
            "graphics   1.00 KiB (1,024 B) more on device 0 (card) than before "
            "the run, of all processes\n");
}

TEST(TextPartsTest, EachProcessHasItsOwnPeakAndEnd) {
  MeasuredRun run = FullRun();
  const std::string text = ProcessText(run);
  EXPECT_THAT(text, HasSubstr("    100       1  0.000 s  12.0 MiB  60.0 MiB  "
                              "exit    python3 train.py\n"));
  EXPECT_THAT(text, HasSubstr("    101     100  1.000 s  3.00 MiB         -  "
                              "killed  python3 worker.py\n"));
  run.mutable_images(0)->set_end(MeasuredImage::BECAME_ANOTHER);
  run.mutable_images(1)->set_end(MeasuredImage::RUNS_ON);
  EXPECT_THAT(ProcessText(run), HasSubstr("  exec     python3 train.py"));
  EXPECT_THAT(ProcessText(run), HasSubstr("  runs on  python3 worker.py"));
  run.mutable_images(0)->set_end(MeasuredImage::EXITED_AT_ONCE);
  run.mutable_images(1)->set_end(MeasuredImage::UNKNOWN);
  EXPECT_THAT(ProcessText(run), HasSubstr("  exit     python3 train.py"));
  EXPECT_THAT(ProcessText(run), HasSubstr("  unknown  python3 worker.py"));
  run.mutable_images()->RemoveLast();
  EXPECT_EQ(ProcessText(run), "") << "one process is the headline's";
}

TEST(TextPartsTest, OfManyProcessesTheLargestAndTheKilledAreShown) {
  MeasuredRun run;
  for (int i = 0; i < 30; ++i) {
    MeasuredImage* const image = run.add_images();
    image->set_process_id(100 + i);
    image->set_end(MeasuredImage::EXITED);
    image->set_peak_live_bytes((i + 1) * kMiB);
  }
  // It needed least in its heap, and most of all.
  run.mutable_images(0)->set_peak_resident_bytes(900 * kMiB);
  run.mutable_images(2)->set_end(MeasuredImage::KILLED);
  const std::string text = ProcessText(run);
  for (const char* shown : {"    100 ", "    102 ", "    107 ", "    129 "}) {
    EXPECT_THAT(text, HasSubstr(shown));
  }
  for (const char* left_out : {"    101 ", "    103 ", "    106 "}) {
    EXPECT_THAT(text, Not(HasSubstr(left_out)));
  }
  EXPECT_THAT(text, HasSubstr("and 5 that needed less; --json=FILE has all\n"));
  EXPECT_LT(text.find("    100 "), text.find("    107 "));
}

TEST(TextPartsTest, ThreadsWithMostStandFirstAndTheLastAreCounted) {
  MeasuredImage image;
  image.set_peak_live_bytes(100 * kMiB);
  for (uint32_t i = 0; i < 2; ++i) image.add_threads()->set_number(i);
  EXPECT_EQ(ThreadText(image), "") << "one thread, and none";
  for (uint32_t i = 2; i <= 10; ++i) {
    MeasuredThread* const thread = image.add_threads();
    thread->set_number(i);
    thread->set_at_peak_bytes(i * kMiB);
    thread->set_allocated_bytes(3 * i * kMiB);
  }
  image.mutable_threads(10)->set_name("work\ner");
  const std::string text = ThreadText(image);
  EXPECT_THAT(text, HasSubstr("name\n    10     10.0 MiB  10.0 %   30.0 MiB  "
                              "work\\ner\n"));
  EXPECT_THAT(text, HasSubstr("     3     3.00 MiB"));
  EXPECT_THAT(text, Not(HasSubstr("     2     2.00 MiB")));
  EXPECT_THAT(text, HasSubstr("and 2 threads with less\n"));
}

// Rows as places of six functions.
std::vector<SiteRow> SixRows() {
  std::vector<SiteRow> rows(6);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto number = static_cast<int64_t>(i) + 1;
    rows[i].frame.set_function("F" + std::to_string(number));
    rows[i].at_end.set_bytes(number * kMiB);
    rows[i].at_end.set_count(number);
    rows[i].temporary_count = 10 * number;
    rows[i].allocated.set_count(100 * number);
  }
  return rows;
}

TEST(TextPartsTest, WhatIsLeftStandsByItsBytes) {
  MeasuredImage image;
  image.set_live_bytes(21 * kMiB);
  EXPECT_EQ(LeftText(image, SixRows()), "") << "the end was not seen";
  image.set_has_totals(true);
  const std::string text = LeftText(image, SixRows());
  EXPECT_THAT(text, HasSubstr("where\n    6.00 MiB       6  F6"));
  EXPECT_THAT(text, HasSubstr("    2.00 MiB       2  F2"));
  EXPECT_THAT(text, Not(HasSubstr("F1"))) << "five rows";
  std::vector<SiteRow> rows = SixRows();
  rows.resize(1);
  rows[0].at_end.set_bytes(0);
  EXPECT_EQ(LeftText(image, rows), "");
  image.set_live_bytes(0);
  EXPECT_EQ(LeftText(image, SixRows()), "") << "nothing is left in all";
}

TEST(TextPartsTest, TemporaryBlocksOfAllPlacesAreCounted) {
  const std::string text = TemporaryText(SixRows(), /*is_sampled=*/false);
  EXPECT_THAT(text, HasSubstr("where\n       60  600  F6"));
  EXPECT_THAT(text, Not(HasSubstr("F1"))) << "five rows";
  EXPECT_THAT(text, HasSubstr("\n210 in all were freed"));
  EXPECT_EQ(TemporaryText({}, /*is_sampled=*/false), "");
  EXPECT_THAT(TemporaryText(SixRows(), /*is_sampled=*/true),
              HasSubstr("allocation, estimated from the samples\n"));
}

TEST(TextPartsTest, ProcessorTimeIsOfAllProcessesAndMayBeOfNoKnownCall) {
  MeasuredRun run = FullRun();
  ProcessorTime* const time = run.mutable_images(1)->add_processor_time();
  time->set_native_ns(250'000'000);
  time->set_sample_count(5);
  const std::string text = ProcessorText(run, {});
  EXPECT_THAT(text, HasSubstr("processor  3.000 s: 2.250 s native, 0.500 s "
                              "interpreter, 0.250 s system; in 305 samples\n"));
  EXPECT_THAT(text, HasSubstr("where\n"
                              "2.750 s  91.7 %  2.000 s      0.500 s  0.250 s  "
                              "PyArray_NewFromDescr"));
  EXPECT_THAT(text, HasSubstr("0.250 s   8.3 %  0.250 s      0.000 s  0.000 s  "
                              "[of no known call]"));
  ReportThreshold threshold;
  threshold.share = 0.1;
  EXPECT_THAT(ProcessorText(run, threshold), Not(HasSubstr("[of no")));
  EXPECT_EQ(ProcessorText(MeasuredRun(), {}), "");
}

TEST(TextPartsTest, CopiesHaveTheSigmaOfTheirSum) {
  MeasuredRun run = FullRun();
  Amount* const copied =
      run.mutable_images(0)->mutable_copies(0)->mutable_copied();
  copied->set_bytes(2 * kMiB);
  copied->set_variance(2.0 * static_cast<double>(kMiB * kMiB));
  const std::string text = CopyText(run);
  EXPECT_THAT(text, HasSubstr("copied     2.00 MiB by calls of memcpy"));
  // The root of 2 (1 + 2 / 2).
  EXPECT_THAT(text, HasSubstr("2.00 MiB  100.0 %  2.00 MiB      9  "
                              "PyArray_NewFromDescr"));
  EXPECT_EQ(CopyText(MeasuredRun()), "");
}

TEST(TextPartsTest, OneChildIsOneChild) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  run.set_sampling_interval_bytes(-1);
  image->set_lost_child_count(1);
  EXPECT_THAT(WarningText(run, *image), HasSubstr("    1 child of process 0"));
  image->set_lost_child_count(0);
  run.set_sampling_interval_bytes(0);
  EXPECT_THAT(WarningText(run, *image),
              HasSubstr("call sites were not recorded"));
}

TEST(TextPartsTest, ProcessesWithoutARecordAreNamed) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  run.set_sampling_interval_bytes(-1);
  EXPECT_THAT(WarningText(run, *image), Not(HasSubstr("no record")));
  run.set_unrecorded_process_count(1);
  run.add_unrecorded_programs("busy\nbox");
  EXPECT_THAT(WarningText(run, *image),
              HasSubstr("warning    1 process (busy\\nbox) left no record and "
                        "is in no figure"));
  run.set_unrecorded_process_count(1200);
  for (const char* name : {"a", "b", "c"}) run.add_unrecorded_programs(name);
  EXPECT_THAT(WarningText(run, *image),
              HasSubstr("1,200 processes (busy\\nbox, a, b, c) left"));
  run.add_unrecorded_programs("d");
  EXPECT_THAT(WarningText(run, *image), HasSubstr("a, b, c, ...) left"));
}

TEST(TextPartsTest, WhatProcessesShareIsNamedBesideTheirSum) {
  MeasuredRun run = FullRun();
  run.set_peak_resident_once_bytes(80 * kMiB);
  EXPECT_THAT(HeadlineText(run, run.images(0)),
              HasSubstr("resident   80.0 MiB (83,886,080 B) at most at once, "
                        "all processes together, shared pages once\n"
                        "           90.0 MiB as the sum of what each has, "
                        "shared pages once a process\n"));
}

TEST(TextPartsTest, AResidentSetThatNobodySawIsNotZero) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  EXPECT_THAT(HeadlineText(run, *image),
              HasSubstr("resident   not measured: "));
  image->set_peak_resident_bytes(kMiB);
  EXPECT_THAT(HeadlineText(run, *image),
              HasSubstr("resident   1.00 MiB (1,048,576 B) at most\n"));
}

TEST(TextPartsTest, AForksFiguresAreOfItsWholeHeapAndItsOwnIsNamed) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  image->set_peak_live_bytes(40 * kMiB);
  EXPECT_THAT(HeadlineText(run, *image), Not(HasSubstr("its own")));
  image->set_inherited_live_bytes(18 * kMiB);
  EXPECT_THAT(HeadlineText(run, *image), HasSubstr("peak heap  40.0 MiB ("));
  EXPECT_THAT(HeadlineText(run, *image),
              HasSubstr("22.0 MiB of it its own, beyond the 18.0 MiB that it "
                        "had from its parent by fork"));
}

TEST(TextPartsTest, AProgramThatASignalKilledIsSaidToBe) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  run.set_sampling_interval_bytes(-1);
  EXPECT_THAT(WarningText(run, *image), Not(HasSubstr("killed")));
  run.set_signal_number(9);
  EXPECT_THAT(WarningText(run, *image),
              HasSubstr("warning    the program was killed by signal 9 "
                        "(Killed)"));
}

TEST(TextPartsTest, AHeapThatTellsTooLittleIsNamed) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  run.set_sampling_interval_bytes(-1);
  image->set_process_id(7);
  image->set_peak_live_bytes(kMiB);
  image->set_peak_resident_bytes(12 * kMiB);
  EXPECT_THAT(WarningText(run, *image), Not(HasSubstr("leaves out")));
  image->set_peak_resident_bytes(81 * kMiB);
  EXPECT_THAT(WarningText(run, *image),
              HasSubstr("leaves out 80.0 MiB of 81.0 MiB"));
}

TEST(TextPartsTest, ALimitThatIsNotRecommendedHasAReason) {
  MeasuredRun run;
  run.add_images();
  run.mutable_container_needs()->set_unknown("2 processes left no record");
  EXPECT_EQ(MachineText(run, run.images(0)),
            "container  no limit is recommended: 2 processes left no record\n");
  run.mutable_container_needs()->clear_unknown();
  run.mutable_container_needs()->set_limit_bytes(100 * kMiB);
  run.mutable_container_needs()->set_memory_file_bytes(60 * kMiB);
  EXPECT_THAT(MachineText(run, run.images(0)),
              HasSubstr("60.0 MiB of files in memory (tmpfs), "));
}

TEST(TextPartsTest, PartsFarBelowThePeakAreNotCalledNearIt) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  image->set_process_id(7);
  image->set_peak_resident_bytes(66 * kMiB);
  image->mutable_resident_at_peak()->set_resident_bytes(65 * kMiB);
  EXPECT_THAT(MachineText(run, *image),
              HasSubstr("resident set of process 7 near its peak, after"));
  image->mutable_resident_at_peak()->set_resident_bytes(3 * kMiB);
  EXPECT_THAT(
      MachineText(run, *image),
      HasSubstr("resident set of process 7, 63.0 MiB below its peak, after"));
}

TEST(TextPartsTest, TheHeadlineTellsTheLargestProcessFromAll) {
  MeasuredRun run = FullRun();
  EXPECT_EQ(HeadlineText(run, run.images(0)),
            "peak heap  12.0 MiB (12,582,912 B), after 3.000 s of 4.000 s\n"
            "           in process 100: python3 train.py\n"
            "           66.7 % the program's own data, 16.7 % libraries, "
            "8.3 % the interpreter, 8.3 % of no known call\n"
            "resident   90.0 MiB (94,371,840 B) at most at once, all processes "
            "together, shared pages once\n"
            "mapped     30.0 MiB (31,457,280 B) of addresses by the program "
            "itself\n"
            "allocated  40.0 MiB (41,943,040 B) in 12,345 calls; left at the "
            "end 1.00 MiB (1,048,576 B)\n");
}

}  // namespace
}  // namespace footprint
