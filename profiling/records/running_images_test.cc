#include "footprint/profiling/records/running_images.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

MeasuredProcess MakeImage(int process_id, int image) {
  MeasuredProcess process;
  process.figures.set_process_id(process_id);
  process.figures.set_image(image);
  process.figures.set_end(MeasuredImage::KILLED);
  return process;
}

TEST(RunningImagesTest, AnImageBecameTheLaterOnesOfItsProcess) {
  const std::vector<MeasuredProcess> processes = {
      MakeImage(7, 0), MakeImage(8, 0), MakeImage(7, 1)};
  EXPECT_TRUE(BecameAnother(processes[0].figures, processes));
  EXPECT_FALSE(BecameAnother(processes[1].figures, processes));
  EXPECT_FALSE(BecameAnother(processes[2].figures, processes));
}

TEST(RunningImagesTest, OnlyTheLastImageOfAProcessRuns) {
  std::vector<MeasuredProcess> processes = {MakeImage(getpid(), 0),
                                            MakeImage(getpid(), 1)};
  MarkRunning(&processes);
  EXPECT_EQ(processes[0].figures.end(), MeasuredImage::KILLED);
  EXPECT_EQ(processes[1].figures.end(), MeasuredImage::RUNS_ON);
}

TEST(RunningImagesTest, WhatHasEndedDoesNotRun) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  std::vector<MeasuredProcess> processes = {MakeImage(child, 0),
                                            MakeImage(getpid(), 0)};
  // It has written its totals, which is the last that it does.
  processes[1].figures.set_has_totals(true);
  processes[1].figures.set_end(MeasuredImage::EXITED);
  MarkRunning(&processes);
  EXPECT_EQ(processes[0].figures.end(), MeasuredImage::KILLED);
  EXPECT_EQ(processes[1].figures.end(), MeasuredImage::EXITED);
}

TEST(RunningImagesTest, AProcessThatIsNotWaitedForHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, child, &ended, WEXITED | WNOWAIT), 0);
  std::vector<MeasuredProcess> processes = {MakeImage(child, 0)};
  MarkRunning(&processes);
  EXPECT_EQ(processes[0].figures.end(), MeasuredImage::KILLED);
  waitpid(child, nullptr, 0);
}

// The kernel takes these numbers for the caller's own group, and for all.
TEST(RunningImagesTest, ADamagedIdNamesNoProcess) {
  std::vector<MeasuredProcess> processes = {MakeImage(0, 0), MakeImage(-1, 0)};
  MarkRunning(&processes);
  EXPECT_EQ(processes[0].figures.end(), MeasuredImage::KILLED);
  EXPECT_EQ(processes[1].figures.end(), MeasuredImage::KILLED);
}

}  // namespace
}  // namespace footprint
