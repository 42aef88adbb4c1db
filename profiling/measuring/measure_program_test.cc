// Tests what measure_program.h promises, with a real program that misbehaves on
// demand.

#include "footprint/profiling/measuring/measure_program.h"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/machine/machine_names.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/profile_merge.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

ProgramMeasurement Program(const std::string& what) {
  ProgramMeasurement measurement;
  measurement.label = "//profiling/measuring:measured_test_program";
  measurement.executable = "profiling/measuring/measured_test_program";
  measurement.arguments = {"--do=" + what};
  return measurement;
}

MemoryMeasurement Measure(const ProgramMeasurement& measurement) {
  absl::StatusOr<MemoryMeasurement> measured = MeasureProgram(measurement);
  EXPECT_THAT(measured, IsOk());
  return measured.ok() ? *measured : MemoryMeasurement();
}

ProducerFailure FindFailure(const ProgramMeasurement& measurement) {
  const MemoryMeasurement first = Measure(measurement);
  EXPECT_TRUE(first.profile.has_failure());
  EXPECT_THAT(first.profile.benchmarks(), IsEmpty());
  EXPECT_EQ(first.profile.label(), measurement.label);
  // A failure is cached like any other result, so it must also repeat.
  EXPECT_EQ(first.profile.SerializeAsString(),
            Measure(measurement).profile.SerializeAsString());
  return first.profile.failure();
}

std::map<std::string, std::string> Arguments(
    const MemoryMeasurement& measured) {
  std::map<std::string, std::string> arguments;
  for (const Argument& argument : measured.profile.benchmarks(0).arguments()) {
    arguments[argument.name()] = argument.value();
  }
  return arguments;
}

std::string TestFile(const std::string& name, const std::string& content) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << content;
  return path;
}

TEST(MeasureProgramTest, MeasuresInThreeProcesses) {
  const MemoryMeasurement measured = Measure(Program("nothing_special"));
  EXPECT_FALSE(measured.profile.has_failure());
  EXPECT_EQ(measured.profile.label(),
            "//profiling/measuring:measured_test_program");
  EXPECT_EQ(measured.profile.process_count(), 3);
  const BenchmarkMemory& benchmark = measured.profile.benchmarks(0);
  ASSERT_EQ(benchmark.metrics_size(), 1);
  EXPECT_EQ(benchmark.metrics(0).value(), 114688);
  EXPECT_THAT(benchmark.unrepeated(), IsEmpty());
  // The process's number serves as a statistical figure.
  const SampledBenchmark& samples = measured.samples.benchmarks(0);
  ASSERT_EQ(samples.metrics_size(), 2);
  EXPECT_EQ(samples.metrics(0).kind(), ALLOCATOR_RESIDENT_BYTES);
  EXPECT_THAT(samples.metrics(0).values(), SizeIs(3));
  EXPECT_THAT(samples.metrics(1).values(), SizeIs(3));
  // The facts are those of this machine.
  EXPECT_EQ(measured.samples.kernel(), KernelName());
  EXPECT_EQ(measured.samples.cpu_model(), ProcessorModel());
}

TEST(MeasureProgramTest, GivesTheSameBytesTenTimes) {
  const std::string first =
      Measure(Program("nothing_special")).profile.SerializeAsString();
  for (int run = 1; run < 10; ++run) {
    EXPECT_EQ(Measure(Program("nothing_special")).profile.SerializeAsString(),
              first);
  }
}

TEST(MeasureProgramTest, NeedsNoSamplesFile) {
  const MemoryMeasurement measured = Measure(Program("no_samples"));
  EXPECT_FALSE(measured.profile.has_failure());
  EXPECT_THAT(measured.samples.benchmarks(0).metrics(), SizeIs(1));
}

TEST(MeasureProgramTest, FindsWhatDependsOnTheEnvironment) {
  const MemoryMeasurement measured = Measure(Program("vary"));
  EXPECT_THAT(measured.profile.benchmarks(0).unrepeated(),
              ElementsAre(ALLOCATED_USABLE_BYTES));
}

TEST(MeasureProgramTest, FindsWhatDependsOnTheLayout) {
  int randomization = 0;
  std::ifstream("/proc/sys/kernel/randomize_va_space") >> randomization;
  const MemoryMeasurement measured = Measure(Program("vary_with_layout"));
  // If the whole system has no random layouts, nothing can depend on them.
  EXPECT_EQ(measured.profile.benchmarks(0).unrepeated_size(),
            randomization == 0 ? 0 : 1);
}

TEST(MeasureProgramTest, TheProgramSeesNothingOfTheHost) {
  ProgramMeasurement program = Program("describe");
  program.data = {{TestFile("host.csv", "1,2\n"), "data/rows.csv"}};
  const MemoryMeasurement measured = Measure(program);
  ASSERT_FALSE(measured.profile.has_failure());
  EXPECT_THAT(
      Arguments(measured),
      ElementsAre(
          std::make_pair("argv[0]", "measured_test_program"),
          std::make_pair("core", "0"),
          std::make_pair("environment",
                         "PATH=/usr/bin:/bin LANG=C TZ=UTC FOOTPRINT_PADDING "),
          std::make_pair("files", "0 1 2 "), std::make_pair("folder", "data "),
          std::make_pair("folder's length", "21"),
          std::make_pair("open files", "1024"),
          std::make_pair("stack", "8388608"), std::make_pair("umask", "18")));
}

TEST(MeasureProgramTest, LinksDataUnderItsName) {
  ProgramMeasurement program = Program("read");
  program.data = {{TestFile("a=b.csv", "1,2\n"), "a/b=c.csv"}};
  program.arguments.push_back("--path=a/b=c.csv");
  EXPECT_EQ(Arguments(Measure(program))["content"], "1,2\n");
}

TEST(MeasureProgramTest, RecordsSignals) {
  const ProducerFailure crash = FindFailure(Program("crash"));
  EXPECT_EQ(crash.kind(), ProducerFailure::SIGNALLED);
  EXPECT_EQ(crash.signal_number(), SIGSEGV);
  EXPECT_THAT(crash.standard_error_tail(), StartsWith("about to crash"));
  EXPECT_EQ(FindFailure(Program("abort")).signal_number(), SIGABRT);
  EXPECT_EQ(FindFailure(Program("kill")).signal_number(), SIGKILL);
}

TEST(MeasureProgramTest, RecordsTheExitStatus) {
  const ProducerFailure failure = FindFailure(Program("exit3"));
  EXPECT_EQ(failure.kind(), ProducerFailure::EXITED);
  EXPECT_EQ(failure.exit_status(), 3);
  EXPECT_EQ(failure.standard_error_tail(), "cannot open ? the model\n");
}

TEST(MeasureProgramTest, RecordsHanging) {
  ProgramMeasurement program = Program("hang");
  program.time_limit_seconds = 1;
  const ProducerFailure failure = FindFailure(program);
  EXPECT_EQ(failure.kind(), ProducerFailure::TIMED_OUT);
  EXPECT_EQ(failure.time_limit_seconds(), 1);
  EXPECT_THAT(failure.detail(), HasSubstr("--memory_one_process"));
}

TEST(MeasureProgramTest, RecordsMissingAndBadProfiles) {
  EXPECT_EQ(FindFailure(Program("no_profile")).kind(),
            ProducerFailure::WROTE_NO_PROFILE);
  const ProducerFailure truncated = FindFailure(Program("truncate"));
  EXPECT_EQ(truncated.kind(), ProducerFailure::WROTE_BAD_PROFILE);
  EXPECT_THAT(truncated.detail(), StartsWith("profile.binpb: is no whole"));
}

TEST(MeasureProgramTest, RecordsThatProcessesDisagreed) {
  const ProducerFailure failure = FindFailure(Program("disagree"));
  EXPECT_EQ(failure.kind(), ProducerFailure::DISAGREED);
  EXPECT_THAT(failure.detail(),
              HasSubstr("process 2 has arguments of BM_Test"));
}

TEST(MeasureProgramTest, PassesTheProgramsOwnFailureOn) {
  EXPECT_EQ(FindFailure(Program("own_failure")).detail(), "no such benchmark");
}

// It does not matter whether all processes report it or one, nor what the exit
// status is.
TEST(MeasureProgramTest, ABenchmarkThatFailedTakesNoOtherWithIt) {
  for (const char* what : {"benchmark_fails", "one_process_fails"}) {
    const MemoryMeasurement measured = Measure(Program(what));
    EXPECT_EQ(measured.profile.failure().kind(),
              ProducerFailure::BENCHMARKS_FAILED);
    EXPECT_EQ(measured.profile.failure().detail(), "BM_Other: error: as asked");
    ASSERT_THAT(measured.profile.benchmarks(), SizeIs(1));
    EXPECT_EQ(measured.profile.benchmarks(0).name(), "BM_Test");
    ASSERT_THAT(measured.profile.benchmarks(0).metrics(), SizeIs(1));
    EXPECT_EQ(measured.profile.benchmarks(0).metrics(0).value(), 114688);
    EXPECT_EQ(measured.profile.SerializeAsString(),
              Measure(Program(what)).profile.SerializeAsString());
  }
}

TEST(MeasureProgramTest, RecordsAProgramThatCannotStart) {
  ProgramMeasurement program = Program("nothing_special");
  program.executable = TestFile("text", "no program\n");
  const ProducerFailure failure = FindFailure(program);
  EXPECT_EQ(failure.kind(), ProducerFailure::NOT_STARTED);
  EXPECT_EQ(failure.detail(), "executing it: Permission denied");
}

TEST(MeasureProgramTest, SurvivesMegabytesOfText) {
  EXPECT_FALSE(Measure(Program("noise")).profile.has_failure());
  const ProducerFailure failure = FindFailure(Program("noise_then_exit1"));
  EXPECT_THAT(failure.standard_error_tail().size(), testing::Le(8192u));
  EXPECT_TRUE(absl::EndsWith(failure.standard_error_tail(), "the last line\n"));
}

// The grandchild is in another session and ignores SIGTERM and SIGHUP.
TEST(MeasureProgramTest, EndsWhatTheProgramLeftBehind) {
  ProgramMeasurement program = Program("leave_grandchild");
  const std::string path = ::testing::TempDir() + "/grandchild";
  program.arguments.push_back("--path=" + path);
  EXPECT_FALSE(Measure(program).profile.has_failure());
  int grandchild = 0;
  ASSERT_TRUE(std::ifstream(path) >> grandchild);
  EXPECT_EQ(kill(grandchild, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(MeasureProgramTest, RefusesWhatCannotBeMeasured) {
  std::vector<ProgramMeasurement> programs(7, Program("nothing_special"));
  programs[0].process_count = 2;
  programs[1].time_limit_seconds = 0;
  programs[2].label = "no label";
  programs[3].data = {{"/etc/passwd", "/etc/passwd"}};
  programs[4].data = {{"/etc/passwd", "a/../../b"}};
  programs[5].data = {{"/etc/passwd", "a"}, {"/etc/passwd", "a"}};
  programs[6].data = {{"/etc/passwd", "profile.binpb"}};
  for (const ProgramMeasurement& program : programs) {
    EXPECT_THAT(MeasureProgram(program),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  ProgramMeasurement program = Program("nothing_special");
  program.data = {{"/no/such/file", "a"}};
  const absl::Status status = MeasureProgram(program).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/no/such/file"));
}

}  // namespace
}  // namespace footprint
