#include "footprint/profiling/reports/memory_profile_report.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

MeasuredImage* AddImage(int process, int64_t peak, MeasuredRun* run) {
  MeasuredImage* const image = run->add_images();
  image->set_process_id(process);
  image->set_executable("/usr/bin/python3.11");
  image->set_peak_live_bytes(peak);
  image->set_end(MeasuredImage::EXITED);
  image->set_has_totals(true);
  image->set_allocated_bytes(10 * peak);
  image->set_allocation_count(peak / 100);
  image->set_sum_thread_peak_bytes(peak + 1);
  image->set_live_bytes(7);
  return image;
}

MeasuredRun MakeRun(const std::vector<std::string>& program) {
  MeasuredRun run;
  for (const std::string& word : program) run.add_program(word);
  run.set_sampling_interval_bytes(-1);
  run.set_peak_resident_sum_bytes(90000);
  run.mutable_machine()->set_allocator("jemalloc 5");
  run.mutable_machine()->set_c_library("glibc 2.36");
  return run;
}

StageFigures* AddStage(const std::string& name, StageFigures::Kind kind,
                       uint32_t parent, int64_t peak, MeasuredImage* image) {
  StageFigures* const stage = image->add_stages();
  stage->set_name(name);
  stage->set_kind(kind);
  stage->set_parent(parent);
  stage->set_peak_live_bytes(peak);
  stage->set_allocated_bytes(2 * peak);
  return stage;
}

int64_t FindValue(const MemoryProfile& profile, MetricKind kind) {
  return ReadMetric(profile.benchmarks(0), kind).bytes_or_count.value_or(-1);
}

TEST(MemoryProfileReportTest, AProgramIsABenchmark) {
  MeasuredRun run = MakeRun(
      {"/usr/bin/train", "--rows=10", "--a=b=c", "x=1", "-v", "--plain"});
  MeasuredImage* const image = AddImage(1, 5000, &run);
  image->set_interpreter("CPython 3.11.2");
  image->add_module_versions("numpy 1.24.2");
  image->add_module_versions("scipy 1.10.1");
  const MemoryProfile profile = MemoryProfileReport(run);
  EXPECT_EQ(profile.label(), "//:train");
  EXPECT_EQ(profile.benchmarks(0).name(), "train/rows:10/a:b=c");
  ASSERT_EQ(profile.benchmarks(0).arguments_size(), 2);
  EXPECT_EQ(profile.benchmarks(0).arguments(1).value(), "b=c");
  EXPECT_EQ(profile.environment().allocator(), "jemalloc 5");
  EXPECT_EQ(profile.environment().interpreter(), "CPython 3.11.2");
  EXPECT_EQ(profile.environment().loaded_modules(),
            "numpy 1.24.2, scipy 1.10.1");
  EXPECT_EQ(FindValue(profile, PEAK_LIVE_USABLE_BYTES), 5000);
  EXPECT_EQ(FindValue(profile, PEAK_LIVE_ABSOLUTE_USABLE_BYTES), 5000);
  EXPECT_EQ(FindValue(profile, SUM_THREAD_PEAK_USABLE_BYTES), 5001);
  EXPECT_EQ(FindValue(profile, ALLOCATED_USABLE_BYTES), 50000);
  EXPECT_EQ(FindValue(profile, ALLOCATION_COUNT), 50);
  EXPECT_EQ(FindValue(profile, NET_GROWTH_USABLE_BYTES), 7);
  EXPECT_EQ(FindValue(profile, PEAK_RESIDENT_BYTES), 90000);
  for (const Metric& metric : profile.benchmarks(0).metrics()) {
    EXPECT_EQ(metric.determinism(),
              metric.kind() == PEAK_RESIDENT_BYTES ? STATISTICAL : EXACT);
  }
}

TEST(MemoryProfileReportTest, AProcessWithoutARecordFails) {
  MeasuredRun run = MakeRun({"sh"});
  AddImage(1, 5000, &run);
  ASSERT_FALSE(MemoryProfileReport(run).has_failure());
  run.set_unrecorded_process_count(2);
  run.add_unrecorded_programs("busybox");
  const MemoryProfile profile = MemoryProfileReport(run);
  EXPECT_EQ(profile.failure().kind(), ProducerFailure::WROTE_NO_PROFILE);
  EXPECT_THAT(profile.failure().detail(),
              HasSubstr("no record was left by 2 of the processes that ran "
                        "(busybox)"));
  EXPECT_TRUE(profile.benchmarks().empty());
}

TEST(MemoryProfileReportTest, ARunThatRemovedItsRecordsFails) {
  MeasuredRun run = MakeRun({"sh"});
  AddImage(1, 5000, &run);
  run.set_has_lost_records(true);
  const MemoryProfile profile = MemoryProfileReport(run);
  EXPECT_EQ(profile.failure().kind(), ProducerFailure::WROTE_NO_PROFILE);
  EXPECT_THAT(profile.failure().detail(), HasSubstr("removed the folder"));
  EXPECT_TRUE(profile.benchmarks().empty());
}

// The phase makes gates ask for a threshold of the rest.
TEST(MemoryProfileReportTest, AHeapThatTellsTooLittleHasTheRestAsAPhase) {
  MeasuredRun run = MakeRun({"node"});
  AddImage(1, 50'000, &run);
  MeasuredImage* const child = AddImage(2, 5'000, &run);
  child->set_peak_resident_bytes(16'000'000);
  EXPECT_FALSE(TellsTooLittle(MemoryProfileReport(run).benchmarks(0)));
  child->set_peak_resident_bytes(90'005'000);
  const MemoryProfile profile = MemoryProfileReport(run);
  EXPECT_TRUE(TellsTooLittle(profile.benchmarks(0)));
  EXPECT_EQ(UnaccountedBytes(profile.benchmarks(0)), 90'000'000);
  EXPECT_EQ(FindValue(profile, RESIDENT_ANONYMOUS_BYTES), 90'005'000);
}

TEST(MemoryProfileReportTest, PagesThatProcessesShareAreResidentOnce) {
  MeasuredRun run = MakeRun({"pool"});
  AddImage(1, 5000, &run);
  run.set_peak_resident_once_bytes(60000);
  EXPECT_EQ(FindValue(MemoryProfileReport(run), PEAK_RESIDENT_BYTES), 60000);
  run.mutable_images(0)->set_peak_resident_bytes(70000);
  EXPECT_EQ(FindValue(MemoryProfileReport(run), PEAK_RESIDENT_BYTES), 70000)
      << "the kernel's own mark";
}

TEST(MemoryProfileReportTest, AScriptHasItsOwnName) {
  MeasuredRun run = MakeRun({"python3", "-u", "lib/train.py", "--rows=1"});
  AddImage(1, 5000, &run);
  EXPECT_EQ(MemoryProfileReport(run).benchmarks(0).name(), "train/rows:1");
}

TEST(MemoryProfileReportTest, SeveralProcessesBecomeOneFigure) {
  MeasuredRun run = MakeRun({"sh"});
  MeasuredImage* const shell = AddImage(1, 100, &run);
  shell->set_end(MeasuredImage::BECAME_ANOTHER);
  shell->set_has_totals(false);
  AddImage(1, 3000, &run)->set_image(1);
  MeasuredImage* const child = AddImage(2, 9000, &run);
  child->set_inherited_live_bytes(2000);
  child->set_sum_thread_peak_bytes(7000);
  const MemoryProfile profile = MemoryProfileReport(run);
  EXPECT_EQ(FindValue(profile, PEAK_LIVE_USABLE_BYTES), 7000);
  EXPECT_EQ(FindValue(profile, PEAK_LIVE_ABSOLUTE_USABLE_BYTES), 9000);
  EXPECT_EQ(FindValue(profile, SUM_THREAD_PEAK_USABLE_BYTES), 3001 + 7000);
  EXPECT_EQ(FindValue(profile, ALLOCATED_USABLE_BYTES), 30000 + 90000);
}

TEST(MemoryProfileReportTest, SumsOfAKilledProcessAreUnknown) {
  MeasuredRun run = MakeRun({"pool"});
  AddImage(1, 3000, &run);
  MeasuredImage* const killed = AddImage(2, 1000, &run);
  killed->set_has_totals(false);
  killed->set_end(MeasuredImage::KILLED);
  const MemoryProfile profile = MemoryProfileReport(run);
  EXPECT_EQ(FindValue(profile, PEAK_LIVE_USABLE_BYTES), 3000);
  EXPECT_EQ(FindValue(profile, SUM_THREAD_PEAK_USABLE_BYTES), -1);
  EXPECT_EQ(FindValue(profile, ALLOCATED_USABLE_BYTES), -1);
  EXPECT_EQ(FindValue(profile, ALLOCATION_COUNT), -1);
}

TEST(MemoryProfileReportTest, ThreadsThatMayOverlapMakeABoundedPeak) {
  MeasuredRun run = MakeRun({"threads"});
  AddImage(1, 3000, &run)->set_threads_may_overlap(true);
  const MemoryProfile profile = MemoryProfileReport(run);
  const auto class_of = [&](MetricKind kind) {
    return FindMetric(profile.benchmarks(0).metrics(), kind)->determinism();
  };
  EXPECT_EQ(class_of(PEAK_LIVE_USABLE_BYTES), BOUNDED);
  EXPECT_EQ(class_of(SUM_THREAD_PEAK_USABLE_BYTES), EXACT);
}

TEST(MemoryProfileReportTest, NamedStagesArePhases) {
  MeasuredRun run = MakeRun({"train"});
  MeasuredImage* const image = AddImage(1, 3000, &run);
  AddStage("", StageFigures::NONE, 0, 0, image);
  AddStage("fit", StageFigures::NAMED, 0, 900, image);
  AddStage("numpy", StageFigures::IMPORT, 1, 100, image);
  AddStage("epoch", StageFigures::NAMED, 2, 50, image);
  AddStage("fit", StageFigures::NAMED, 0, 30, image);
  const BenchmarkMemory memory = MemoryProfileReport(run).benchmarks(0);
  ASSERT_EQ(memory.phases_size(), 3);
  EXPECT_EQ(memory.phases(0).name(), "fit");
  EXPECT_EQ(memory.phases(0).parent(), -1);
  EXPECT_EQ(memory.phases(1).name(), "fit/epoch");
  EXPECT_EQ(memory.phases(1).parent(), 0);
  EXPECT_EQ(memory.phases(2).name(), "fit (2)");
  EXPECT_EQ(ReadMetric(memory.phases(0), PEAK_LIVE_USABLE_BYTES)
                .bytes_or_count.value(),
            900);
  EXPECT_EQ(ReadMetric(memory.phases(0), ALLOCATED_USABLE_BYTES)
                .bytes_or_count.value(),
            1800);
}

TEST(MemoryProfileReportTest, WithoutNamedStagesTheOthersArePhases) {
  MeasuredRun run = MakeRun({"train"});
  MeasuredImage* const image = AddImage(1, 3000, &run);
  AddStage("", StageFigures::NONE, 0, 0, image);
  AddStage("numpy", StageFigures::IMPORT, 0, 100, image);
  AddStage("/tmp/new-folder/data.csv", StageFigures::FILE, 0, 100, image);
  const BenchmarkMemory memory = MemoryProfileReport(run).benchmarks(0);
  ASSERT_EQ(memory.phases_size(), 2);
  EXPECT_EQ(memory.phases(0).name(), "numpy");
  EXPECT_EQ(memory.phases(1).name(), "data.csv");
}

TEST(MemoryProfileReportTest, TheAttributionAddsUpToThePeak) {
  MeasuredRun run = MakeRun({"train"});
  run.set_sampling_interval_bytes(0);
  MeasuredImage* const image = AddImage(1, 3000, &run);
  image->set_has_sites(true);
  AddStage("", StageFigures::NONE, 0, 0, image);
  AddStage("fit", StageFigures::NAMED, 0, 900, image);
  for (int i = 0; i < 60; ++i) {
    run.add_frames()->set_function(absl::StrCat("f", i));
    run.add_calls()->set_frame(static_cast<uint32_t>(i));
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(i) + 1);
    site->set_stage(i == 0 ? 1 : 0);
    site->mutable_at_peak()->set_bytes(100 - i);
  }
  const BenchmarkMemory memory = MemoryProfileReport(run).benchmarks(0);
  ASSERT_EQ(memory.peak_attribution_size(), 51);
  EXPECT_EQ(memory.peak_attribution(0).site(), "phase:fit/site:f0");
  EXPECT_EQ(memory.peak_attribution(1).site(), "site:f1");
  EXPECT_EQ(memory.peak_attribution(50).site(), "other sites");
  int64_t sum = 0;
  for (const Attribution& each : memory.peak_attribution()) {
    sum += each.live_bytes();
  }
  EXPECT_EQ(sum, 60 * (100 + 41) / 2);
}

TEST(MemoryProfileReportTest, ASiteIsALine) {
  MeasuredRun run = MakeRun({"train"});
  run.set_sampling_interval_bytes(0);
  MeasuredImage* const image = AddImage(1, 3000, &run);
  image->set_has_sites(true);
  AddStage("", StageFigures::NONE, 0, 0, image);
  for (const int line : {40, 41, 42}) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function("Table::Read");
    frame->set_file("/home/someone/app/table.cc");
    frame->set_line(line);
    run.add_calls()->set_frame(static_cast<uint32_t>(run.frames_size() - 1));
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(run.calls_size()));
    site->mutable_at_peak()->set_bytes(line == 41 ? 500 : 100);
  }
  const BenchmarkMemory memory = MemoryProfileReport(run).benchmarks(0);
  ASSERT_EQ(memory.peak_attribution_size(), 3);
  EXPECT_EQ(memory.peak_attribution(0).site(),
            "site:Table::Read (table.cc:41)");
  EXPECT_EQ(memory.peak_attribution(0).live_bytes(), 500);
}

// Mappings are exact, also where blocks of the heap are sampled. Those by the C
// library belong to its caller.
TEST(MemoryProfileReportTest, MappingsHaveAnAttributionOfTheirOwn) {
  MeasuredRun run = MakeRun({"train"});
  run.set_sampling_interval_bytes(1 << 19);
  MeasuredImage* const image = AddImage(1, 3000, &run);
  image->set_has_sites(true);
  AddStage("", StageFigures::NONE, 0, 0, image);
  CodeFrame* const caller = run.add_frames();
  caller->set_function("Cache::Map");
  caller->set_file("cache.cc");
  caller->set_line(7);
  CodeFrame* const library = run.add_frames();
  library->set_kind(CodeFrame::C_LIBRARY);
  library->set_function("shm_map");
  run.add_calls();
  run.add_calls()->set_frame(1);
  run.mutable_calls(1)->set_parent(1);
  for (const uint32_t call : {1u, 2u, 0u}) {
    MappingAmounts* const mapping = image->add_mappings();
    mapping->set_call(call);
    mapping->set_at_peak_bytes(call == 0 ? 4096 : 8192);
  }
  const BenchmarkMemory memory = MemoryProfileReport(run).benchmarks(0);
  EXPECT_EQ(memory.peak_attribution_size(), 0);
  ASSERT_EQ(memory.mapped_attribution_size(), 2);
  EXPECT_EQ(memory.mapped_attribution(0).site(),
            "site:Cache::Map (cache.cc:7)");
  EXPECT_EQ(memory.mapped_attribution(0).live_bytes(), 16384);
  EXPECT_EQ(memory.mapped_attribution(1).site(),
            "site:[before the agent began]");
}

TEST(MemoryProfileReportTest, WhatIsNotTheWholeProgramIsAFailure) {
  MeasuredRun failed = MakeRun({"a"});
  AddImage(1, 3000, &failed);
  failed.set_exit_status(3);
  EXPECT_EQ(MemoryProfileReport(failed).failure().exit_status(), 3);
  EXPECT_EQ(MemoryProfileReport(failed).benchmarks_size(), 0);
  failed.set_signal_number(9);
  EXPECT_EQ(MemoryProfileReport(failed).failure().kind(),
            ProducerFailure::SIGNALLED);

  MeasuredRun foreign = MakeRun({"a"});
  AddImage(1, 3000, &foreign)->set_has_foreign_new(true);
  EXPECT_THAT(MemoryProfileReport(foreign).failure().detail(),
              HasSubstr("python3.11 has an operator new of its own"));
  EXPECT_THAT(MemoryProfileReport(MakeRun({"a"})).failure().detail(),
              HasSubstr("nothing was measured"));
}

}  // namespace
}  // namespace footprint
