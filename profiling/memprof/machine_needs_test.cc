#include "footprint/profiling/memprof/machine_needs.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

MeasuredRun RunOfImages(int image_count) {
  MeasuredRun run;
  for (int i = 0; i < image_count; ++i) {
    MeasuredImage* const image = run.add_images();
    image->set_process_id(100);
    image->set_image(i);
  }
  return run;
}

ResidentPeak MakePeak(int process_id, int image, int64_t heap_bytes) {
  ResidentPeak peak;
  peak.process_id = process_id;
  peak.image = image;
  peak.time_ns = 5;
  peak.parts.resident_bytes = heap_bytes + 100;
  peak.parts.heap_bytes = heap_bytes;
  peak.parts.stack_bytes = 40;
  peak.parts.image_bytes = 60;
  return peak;
}

MeasuredProcess MakeProcess(int64_t begin_time_ns, int64_t end_time_ns,
                            int64_t peak_live_bytes) {
  MeasuredProcess process;
  process.figures.set_begin_time_ns(begin_time_ns);
  process.figures.set_end_time_ns(end_time_ns);
  process.figures.set_peak_live_bytes(peak_live_bytes);
  return process;
}

TEST(MachineNeedsTest, AnImageHasThePartsOfItsOwnPeak) {
  AgentRunEnd end;
  end.resident_peaks = {MakePeak(100, 1, 1000), MakePeak(200, 0, 5000)};
  MeasuredRun run = RunOfImages(2);
  AddMachineNeeds(end, &run);
  EXPECT_FALSE(run.images(0).has_resident_at_peak());
  const ResidentParts& parts = run.images(1).resident_at_peak();
  EXPECT_EQ(parts.time_ns(), 5);
  EXPECT_EQ(parts.resident_bytes(), 1100);
  EXPECT_EQ(parts.heap_bytes(), 1000);
  EXPECT_EQ(parts.stack_bytes(), 40);
  EXPECT_EQ(parts.image_bytes(), 60);
  // The live bytes were never published.
  EXPECT_EQ(parts.untouched_bytes(), 0);
}

TEST(MachineNeedsTest, WhatTheAllocatorKeepsIsTheHeapBeyondItsLiveBytes) {
  AgentRunEnd end;
  end.resident_peaks = {MakePeak(100, 0, 1000)};
  end.resident_peaks[0].live_bytes = 600;
  MeasuredRun run = RunOfImages(1);
  AddMachineNeeds(end, &run);
  const ResidentParts& parts = run.images(0).resident_at_peak();
  EXPECT_EQ(parts.live_bytes(), 600);
  EXPECT_EQ(parts.kept_bytes(), 400);
  EXPECT_EQ(parts.untouched_bytes(), 0);
}

TEST(MachineNeedsTest, MoreThanTheHeapsPagesWasNeverTouched) {
  AgentRunEnd end;
  end.resident_peaks = {MakePeak(100, 0, 1000)};
  end.resident_peaks[0].live_bytes = 1700;
  MeasuredRun run = RunOfImages(1);
  AddMachineNeeds(end, &run);
  const ResidentParts& parts = run.images(0).resident_at_peak();
  EXPECT_EQ(parts.kept_bytes(), 0);
  EXPECT_EQ(parts.untouched_bytes(), -700);
}

// 500 live bytes were published for the pages of a sample; `live_bytes` were
// live at its time.
ResidentParts PartsWithLive(int64_t live_bytes, int64_t peak_resident_bytes) {
  AgentRunEnd end;
  end.resident_peaks = {MakePeak(100, 0, 1000)};
  end.resident_peaks[0].live_bytes = 500;
  MeasuredProcess process;
  process.figures.set_process_id(100);
  process.figures.set_peak_live_bytes(5000);
  process.figures.set_peak_time_ns(100);
  process.figures.set_peak_resident_bytes(peak_resident_bytes);
  process.sites.emplace();
  process.sites->timeline = {{1, 10, 0}, {3, live_bytes, 0}, {9, 7000, 0}};
  end.processes = {process};
  MeasuredRun run = RunOfImages(1);
  AddMachineNeeds(end, &run);
  return run.images(0).resident_at_peak();
}

TEST(MachineNeedsTest, LiveBytesOfAnotherMomentExplainNoPages) {
  EXPECT_EQ(PartsWithLive(500, 1100).live_bytes(), 500);
  EXPECT_EQ(PartsWithLive(505, 1110).live_bytes(), 500);
  // More was allocated between the two samples.
  const ResidentParts parts = PartsWithLive(900, 1100);
  EXPECT_EQ(parts.heap_bytes(), 1000);
  EXPECT_EQ(parts.live_bytes(), 0);
  EXPECT_EQ(parts.untouched_bytes(), 0);
  // The pages were touched after the sample.
  EXPECT_EQ(PartsWithLive(500, 5000).untouched_bytes(), 0);
}

int64_t LimitBytes(const AgentRunEnd& end) {
  MeasuredRun run = RunOfImages(0);
  AddMachineNeeds(end, &run);
  EXPECT_EQ(run.container_needs().limit_bytes() == 0,
            !run.container_needs().unknown().empty());
  return run.container_needs().limit_bytes();
}

TEST(MachineNeedsTest, NoLimitIsRecommendedWhereAnythingIsUnknown) {
  AgentRunEnd known;
  known.shared_once.anonymous_bytes = kMiB;
  known.shared_once.resident_sum_bytes = kMiB;
  known.shared_once.is_of_one_moment = true;
  known.held_once = known.shared_once;
  known.processes = {MakeProcess(0, 50, kMiB), MakeProcess(0, 50, kMiB)};
  EXPECT_GT(LimitBytes(known), 0);
  AgentRunEnd end = known;
  end.unrecorded_programs[7] = "static";
  EXPECT_EQ(LimitBytes(end), 0);
  end = known;
  end.left_out_process_count = 1;
  EXPECT_EQ(LimitBytes(end), 0);
  end = known;
  end.processes[1].figures.set_lost_child_count(1);
  EXPECT_EQ(LimitBytes(end), 0);
  end = known;
  end.shared_once.is_of_one_moment = false;
  EXPECT_EQ(LimitBytes(end), 0);
}

TEST(MachineNeedsTest, AllProcessesTogetherHaveSharedPagesOnce) {
  AgentRunEnd end;
  end.peak_resident_sum_bytes = 3300 * kMiB;
  end.shared_once.anonymous_bytes = 290 * kMiB;
  end.shared_once.file_bytes = 8 * kMiB;
  MeasuredRun run = RunOfImages(1);
  AddMachineNeeds(end, &run);
  EXPECT_EQ(run.peak_resident_once_bytes(), 298 * kMiB);
}

TEST(MachineNeedsTest, MappedFilesAreBesideTheLimit) {
  AgentRunEnd end;
  end.shared_once.anonymous_bytes = 10 * kMiB;
  end.shared_once.file_bytes = 90 * kMiB;
  end.shared_once.droppable_bytes = 90 * kMiB;
  end.shared_once.resident_sum_bytes = 100 * kMiB;
  end.shared_once.is_of_one_moment = true;
  end.held_once = end.shared_once;
  MeasuredRun run = RunOfImages(1);
  AddMachineNeeds(end, &run);
  EXPECT_EQ(run.container_needs().limit_bytes(), 11 * kMiB);
  EXPECT_EQ(run.container_needs().mapped_file_bytes(), 94 * kMiB);
}

TEST(MachineNeedsTest, AllProcessesTogetherHaveWhatTheLargestHadAtLeast) {
  AgentRunEnd end;
  end.shared_once.anonymous_bytes = 70 * kMiB;
  end.processes = {MakeProcess(0, 50, kMiB), MakeProcess(0, 50, kMiB)};
  end.processes[1].figures.set_peak_resident_bytes(111 * kMiB);
  MeasuredRun run = RunOfImages(2);
  AddMachineNeeds(end, &run);
  EXPECT_EQ(run.peak_resident_once_bytes(), 111 * kMiB);
  end.shared_once = SharedOnce();
  MeasuredRun unknown = RunOfImages(2);
  AddMachineNeeds(end, &unknown);
  EXPECT_EQ(unknown.peak_resident_once_bytes(), 0);
}

TEST(MachineNeedsTest, NothingSeenRecommendsNothing) {
  MeasuredRun run = RunOfImages(0);
  AddMachineNeeds(AgentRunEnd(), &run);
  EXPECT_EQ(run.container_needs().limit_bytes(), 0);
}

TEST(MachineNeedsTest, HeapsThatAreLiveTogetherAreNeededTogether) {
  AgentRunEnd end;
  end.wall_time_ns = 100;
  end.shared_once.anonymous_bytes = kMiB;
  end.shared_once.resident_sum_bytes = kMiB;
  end.shared_once.is_of_one_moment = true;
  end.held_once = end.shared_once;
  end.processes = {MakeProcess(0, 50, 300 * kMiB),
                   MakeProcess(60, 90, 200 * kMiB)};
  const auto limit_bytes = [&end] {
    MeasuredRun run = RunOfImages(0);
    AddMachineNeeds(end, &run);
    return run.container_needs().limit_bytes();
  };
  const int64_t in_turn_bytes = limit_bytes();
  EXPECT_GE(in_turn_bytes, 300 * kMiB);
  EXPECT_LT(in_turn_bytes, 500 * kMiB);
  end.processes[1].figures.set_begin_time_ns(10);
  EXPECT_GE(limit_bytes(), 500 * kMiB);
  // A killed process counts as alive to the end.
  end.processes = {MakeProcess(0, 0, 300 * kMiB),
                   MakeProcess(60, 90, 200 * kMiB)};
  EXPECT_GE(limit_bytes(), 500 * kMiB);
}

TEST(MachineNeedsTest, TheKernelsMarkOfTheResidentSetCounts) {
  AgentRunEnd end;
  end.wall_time_ns = 100;
  end.shared_once.anonymous_bytes = kMiB;
  end.peak_resident_sum_bytes = 10 * kMiB;
  MeasuredProcess process = MakeProcess(0, 50, kMiB);
  process.figures.set_peak_resident_bytes(64 * kMiB);
  end.processes = {process};
  end.shared_once.resident_sum_bytes = kMiB;
  MeasuredRun run = RunOfImages(0);
  AddMachineNeeds(end, &run);
  EXPECT_GE(run.container_needs().limit_bytes(), 64 * kMiB);
}

TEST(MachineNeedsTest, GraphicsMemoryIsTakenOver) {
  AgentRunEnd end;
  end.graphics_note = "no driver\n";
  end.graphics_uses.resize(2);
  end.graphics_uses[0].process_id = 7;
  end.graphics_uses[0].device = 1;
  end.graphics_uses[0].device_name = "card";
  end.graphics_uses[0].peak_bytes = 0;
  end.graphics_uses[0].busy_ns = 9;
  MeasuredRun run = RunOfImages(0);
  AddMachineNeeds(end, &run);
  ASSERT_EQ(run.graphics_size(), 2);
  EXPECT_EQ(run.graphics(0).process_id(), 7);
  EXPECT_EQ(run.graphics(0).device(), 1);
  EXPECT_EQ(run.graphics(0).device_name(), "card");
  EXPECT_EQ(run.graphics(0).busy_ns(), 9);
  // 0 bytes are known bytes.
  EXPECT_TRUE(run.graphics(0).has_peak_bytes());
  EXPECT_FALSE(run.graphics(1).has_peak_bytes());
  EXPECT_NE(run.graphics_note().find("no driver"), std::string::npos);
}

}  // namespace
}  // namespace footprint
