#include "footprint/profiling/live_view/run_so_far.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

MeasuredProcess MakeProcess(int process_id) {
  MeasuredProcess process;
  process.figures.set_process_id(process_id);
  process.figures.set_end(MeasuredImage::KILLED);
  process.figures.add_command_line("python3");
  process.figures.add_command_line(absl::StrCat(process_id, ".py"));
  return process;
}

// Returns the number of a process that has ended.
int EndedProcess() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(RunSoFarTest, SaysWhichProcessesRun) {
  std::vector<MeasuredProcess> processes = {MakeProcess(getpid()),
                                            MakeProcess(EndedProcess())};
  processes[0].sites.emplace();
  processes[0].sites->sampling_interval_bytes = 4096;
  const MeasuredRun run = MakeRunSoFar(processes);
  ASSERT_EQ(run.images_size(), 2);
  EXPECT_EQ(run.images(0).end(), MeasuredImage::RUNS_ON);
  EXPECT_EQ(run.images(1).end(), MeasuredImage::KILLED);
  EXPECT_EQ(run.sampling_interval_bytes(), 4096);
  EXPECT_GT(run.wall_time_ns(), 0);
  EXPECT_GT(run.begin_unix_time_ns(), 0);
  ASSERT_EQ(run.program_size(), 2);
  EXPECT_EQ(run.program(1), absl::StrCat(getpid(), ".py"));
}

TEST(RunSoFarTest, AProcessThatBecameAnotherIsOne) {
  std::vector<MeasuredProcess> processes = {MakeProcess(getpid()),
                                            MakeProcess(getpid())};
  processes[1].figures.set_image(1);
  const MeasuredRun run = MakeRunSoFar(processes);
  ASSERT_EQ(run.images_size(), 2);
  EXPECT_EQ(run.images(0).end(), MeasuredImage::BECAME_ANOTHER);
  EXPECT_EQ(run.images(1).end(), MeasuredImage::RUNS_ON);
}

TEST(RunSoFarTest, WithoutSitesNothingWasSampled) {
  EXPECT_EQ(MakeRunSoFar({MakeProcess(1)}).sampling_interval_bytes(), -1);
  EXPECT_EQ(MakeRunSoFar({}).images_size(), 0);
}

TEST(RunSoFarTest, KnowsTheNameOfARecord) {
  EXPECT_TRUE(IsAgentsRecord("/tmp/memprof-1/1234.0.record"));
  EXPECT_FALSE(IsAgentsRecord("old.run"));
}

TEST(RunSoFarTest, RefusesWhatIsNoRecord) {
  const std::string path = absl::StrCat(testing::TempDir(), "/1.0.record");
  EXPECT_EQ(ReadRunSoFar(path).status().code(), absl::StatusCode::kNotFound);
  std::ofstream(path).close();
  EXPECT_EQ(ReadRunSoFar(path).status().code(), absl::StatusCode::kNotFound);
  std::ofstream(path) << "text";
  EXPECT_EQ(ReadRunSoFar(path).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace footprint
