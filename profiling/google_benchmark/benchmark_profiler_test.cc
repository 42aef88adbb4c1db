// Runs sample_benchmark like a user and reads its output.

#include "footprint/profiling/google_benchmark/benchmark_profiler.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int64_t kMebibyte = 1 << 20;

std::string Scratch(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the exit status; output and messages go to the scratch files out and
// err.
int Run(const std::string& program, const std::string& arguments,
        const std::string& before = "") {
  const std::string command = before + " ./profiling/google_benchmark/" +
                              program + " " + arguments + " >" +
                              Scratch("out") + " 2>" + Scratch("err");
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int RunSample(const std::string& arguments, const std::string& before = "") {
  return Run("sample_benchmark", arguments, before);
}

int RunAwkward(const std::string& arguments, const std::string& before) {
  return Run("awkward_benchmark", arguments, before);
}

// Returns awkward_benchmark's profile of the benchmarks that `filter` selects.
MemoryProfile MeasureAwkward(const std::string& filter, int expected_status,
                             const std::string& flags = "",
                             const std::string& before = "") {
  const std::string path = Scratch("awkward");
  EXPECT_EQ(Run("awkward_benchmark",
                "--benchmark_filter='" + filter +
                    "' --memory_profile_out=" + path + " " + flags,
                before),
            expected_status)
      << ReadText(Scratch("err"));
  const auto profile = ReadMemoryProfileFile(path);
  EXPECT_THAT(profile, IsOk());
  return profile.ok() ? *profile : MemoryProfile();
}

class BenchmarkProfilerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string path = Scratch("profile");
    ASSERT_EQ(RunSample("--memory_profile_out=" + path), 0)
        << ReadText(Scratch("err"));
    const auto profile = ReadMemoryProfileFile(path);
    ASSERT_THAT(profile, IsOk());
    profile_ = *profile;
  }

  static const BenchmarkMemory& Find(const std::string& name) {
    for (const BenchmarkMemory& benchmark : profile_.benchmarks()) {
      if (benchmark.name() == name) return benchmark;
    }
    ADD_FAILURE() << name << " was not measured";
    return BenchmarkMemory::default_instance();
  }

  static const Phase& FindPhase(const BenchmarkMemory& benchmark,
                                const std::string& name) {
    for (const Phase& phase : benchmark.phases()) {
      if (phase.name() == name) return phase;
    }
    ADD_FAILURE() << benchmark.name() << " has no phase " << name;
    return Phase::default_instance();
  }

  template <typename Measured>
  static Metric Find(const Measured& measured, MetricKind kind) {
    for (const Metric& metric : measured.metrics()) {
      if (metric.kind() == kind) return metric;
    }
    ADD_FAILURE() << "no metric " << MetricKind_Name(kind);
    return Metric();
  }

  static MemoryProfile profile_;
};

MemoryProfile BenchmarkProfilerTest::profile_;

TEST_F(BenchmarkProfilerTest, MeasuresTheLoopAndNotWhatIsAroundIt) {
  for (int mebibytes : {1, 8}) {
    const BenchmarkMemory benchmark =
        Find("BM_HoldBlock/mebibytes:" + std::to_string(mebibytes));
    const Metric peak = Find(benchmark, PEAK_LIVE_USABLE_BYTES);
    EXPECT_EQ(peak.value(), mebibytes * kMebibyte);
    EXPECT_EQ(peak.determinism(), EXACT);
    EXPECT_GE(Find(benchmark, PEAK_LIVE_ABSOLUTE_USABLE_BYTES).value(),
              (4 + mebibytes) * kMebibyte);
    EXPECT_EQ(Find(benchmark, ALLOCATION_COUNT).value(), 1);
    EXPECT_EQ(Find(benchmark, NET_GROWTH_USABLE_BYTES).value(), 0);
    EXPECT_GE(
        Find(FindPhase(benchmark, "setup"), PEAK_LIVE_USABLE_BYTES).value(),
        4 * kMebibyte);
    EXPECT_GE(
        Find(FindPhase(benchmark, "teardown"), PEAK_LIVE_USABLE_BYTES).value(),
        kMebibyte);
  }
}

TEST_F(BenchmarkProfilerTest, KnowsTheArguments) {
  const BenchmarkMemory benchmark = Find("BM_HoldBlock/mebibytes:8");
  ASSERT_EQ(benchmark.arguments_size(), 1);
  EXPECT_EQ(benchmark.arguments(0).name(), "mebibytes");
  EXPECT_EQ(benchmark.arguments(0).value(), "8");
}

TEST_F(BenchmarkProfilerTest, RunsAsManyIterationsAsTheBenchmarkAsksFor) {
  const BenchmarkMemory benchmark = Find("BM_LeaveBlocks/iterations:3");
  EXPECT_EQ(Find(benchmark, PEAK_LIVE_USABLE_BYTES).value(), 3 * kMebibyte);
  EXPECT_EQ(Find(benchmark, NET_GROWTH_USABLE_BYTES).value(), 3 * kMebibyte);
  EXPECT_EQ(Find(benchmark, ALLOCATION_COUNT).value(), 3);
}

TEST_F(BenchmarkProfilerTest, TheUsersPhasesLieInTheLoop) {
  const BenchmarkMemory benchmark = Find("BM_NamePhases");
  EXPECT_EQ(
      Find(FindPhase(benchmark, "loop/load"), PEAK_LIVE_USABLE_BYTES).value(),
      3 * kMebibyte);
  EXPECT_EQ(
      Find(FindPhase(benchmark, "loop/load/parse"), PEAK_LIVE_USABLE_BYTES)
          .value(),
      kMebibyte);
}

TEST_F(BenchmarkProfilerTest, TheLoopMayLieInAPhaseOfTheUsers) {
  const BenchmarkMemory benchmark = Find("BM_LoopInsidePhase");
  EXPECT_EQ(Find(benchmark, PEAK_LIVE_USABLE_BYTES).value(), 2 * kMebibyte);
}

TEST_F(BenchmarkProfilerTest, RepetitionsThatInterleaveAreNotConfused) {
  ASSERT_EQ(RunSample("--benchmark_filter=HoldBlock --benchmark_repetitions=3 "
                      "--benchmark_enable_random_interleaving=true "
                      "--memory_profile_out=" +
                      Scratch("interleaved")),
            0)
      << ReadText(Scratch("err"));
  const auto profile = ReadMemoryProfileFile(Scratch("interleaved"));
  ASSERT_THAT(profile, IsOk());
  ASSERT_EQ(profile->benchmarks_size(), 2);
  for (const BenchmarkMemory& benchmark : profile->benchmarks()) {
    const int64_t mebibytes = std::stoll(benchmark.arguments(0).value());
    EXPECT_EQ(Find(benchmark, PEAK_LIVE_USABLE_BYTES).value(),
              mebibytes * kMebibyte);
  }
}

TEST_F(BenchmarkProfilerTest, RepetitionsAddNoPhases) {
  ASSERT_EQ(RunSample("--benchmark_filter=NamePhases "
                      "--benchmark_repetitions=3 --memory_profile_out=" +
                      Scratch("repeated")),
            0);
  const auto profile = ReadMemoryProfileFile(Scratch("repeated"));
  ASSERT_THAT(profile, IsOk());
  ASSERT_EQ(profile->benchmarks_size(), 1);
  std::vector<std::string> names;
  for (const Phase& phase : profile->benchmarks(0).phases()) {
    names.push_back(phase.name());
  }
  EXPECT_THAT(names, testing::ElementsAre("setup", "loop", "loop/load",
                                          "loop/load/parse", "teardown"));
}

// Threads that failed before their loop must not count for the next benchmark,
// whose setup would then be in its loop.
TEST_F(BenchmarkProfilerTest, AThreadThatFailsEarlySpoilsNoOtherBenchmark) {
  EXPECT_EQ(RunSample("--benchmark_filter='OneThreadFails|LateSetup' "
                      "--memory_profile_out=" +
                          Scratch("one_fails"),
                      "FOOTPRINT_SAMPLE_FAILS=1"),
            1);
  const auto profile = ReadMemoryProfileFile(Scratch("one_fails"));
  ASSERT_THAT(profile, IsOk());
  ASSERT_EQ(profile->benchmarks_size(), 1);
  EXPECT_EQ(Find(profile->benchmarks(0), SUM_THREAD_PEAK_USABLE_BYTES).value(),
            0);
}

TEST_F(BenchmarkProfilerTest, TheSumOfThreadPeaksIsExactForTwoThreads) {
  const BenchmarkMemory benchmark = Find("BM_TwoThreads/threads:2");
  EXPECT_EQ(Find(benchmark, SUM_THREAD_PEAK_USABLE_BYTES).value(),
            2 * kMebibyte);
  EXPECT_EQ(Find(benchmark, SUM_THREAD_PEAK_USABLE_BYTES).determinism(), EXACT);
  EXPECT_EQ(Find(benchmark, PEAK_LIVE_USABLE_BYTES).determinism(), BOUNDED);
  EXPECT_EQ(Find(benchmark, ALLOCATION_COUNT).value(), 200);
}

TEST_F(BenchmarkProfilerTest, TimeDoesNotDecideTheCount) {
  for (const char* name :
       {"BM_RunLong/min_time:0.050", "BM_RunLong/repeats:5"}) {
    EXPECT_EQ(Find(Find(name), ALLOCATION_COUNT).value(), 1) << name;
    EXPECT_EQ(Find(Find(name), PEAK_LIVE_USABLE_BYTES).value(), kMebibyte);
  }
}

// This holds for every kind of time. A second run would show as its allocation
// in the phase after the loop.
TEST_F(BenchmarkProfilerTest, AMinimumTimeOfItsOwnAddsNoRun) {
  const MemoryProfile profile = MeasureAwkward("MinTime", 0);
  ASSERT_EQ(profile.benchmarks_size(), 5);
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    const bool has_threads =
        benchmark.name().find("threads") != std::string::npos;
    EXPECT_EQ(Find(benchmark, ALLOCATION_COUNT).value(), has_threads ? 2 : 1)
        << benchmark.name();
    EXPECT_LT(
        Find(FindPhase(benchmark, "teardown"), ALLOCATED_USABLE_BYTES).value(),
        kMebibyte)
        << benchmark.name();
  }
}

// The figure is the same byte for byte, whatever else the program measures.
TEST_F(BenchmarkProfilerTest, AFigureDoesNotDependOnOtherBenchmarks) {
  const auto exact = [](const MemoryProfile& profile) {
    std::vector<std::pair<int, int64_t>> values;
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      if (benchmark.name() != "BM_ReallocTwo") continue;
      for (const Metric& metric : benchmark.metrics()) {
        if (metric.determinism() != EXACT) continue;
        values.emplace_back(metric.kind(), metric.value());
      }
      for (const Phase& phase : benchmark.phases()) {
        for (const Metric& metric : phase.metrics()) {
          values.emplace_back(metric.kind(), metric.value());
        }
      }
    }
    return values;
  };
  const auto alone = exact(MeasureAwkward("ReallocTwo", 0));
  EXPECT_FALSE(alone.empty());
  EXPECT_EQ(exact(MeasureAwkward("Litter|ReallocTwo|AfterChild", 0)), alone);
}

TEST_F(BenchmarkProfilerTest, AChildIsChargedToItsBenchmarkOnly) {
  for (const char* flags : {"", "--memory_one_process"}) {
    const MemoryProfile profile =
        MeasureAwkward("Litter|Child|ReallocTwo", 0, flags);
    ASSERT_EQ(profile.benchmarks_size(), 4);
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      EXPECT_EQ(benchmark.forked_process_count(),
                benchmark.name() == "BM_StartChild" ? 1 : 0)
          << benchmark.name() << " " << flags;
    }
  }
}

TEST_F(BenchmarkProfilerTest, AFailureTakesNoOtherBenchmarkWithIt) {
  const MemoryProfile profile =
      MeasureAwkward("Litter|Skip|Crash|AfterChild", 1);
  EXPECT_EQ(profile.failure().kind(), ProducerFailure::BENCHMARKS_FAILED);
  EXPECT_EQ(profile.failure().detail(),
            "BM_Skip: error: as it always does; BM_Crash: was killed by "
            "signal 11");
  ASSERT_EQ(profile.benchmarks_size(), 2);
  EXPECT_EQ(profile.benchmarks(0).name(), "BM_Litter");
  EXPECT_EQ(profile.benchmarks(1).name(), "BM_AfterChild");
}

std::vector<std::string> ListNames(const MemoryProfile& profile) {
  std::vector<std::string> names;
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    names.push_back(benchmark.name());
  }
  return names;
}

TEST_F(BenchmarkProfilerTest, ANameMayHaveAnyCharacter) {
  EXPECT_THAT(ListNames(MeasureAwkward("^[^B]", 0, "", "AWKWARD_NAMES=1")),
              testing::ElementsAre("N\nM", "N", "M", "]\n[", "N[128]", "N{a}",
                                   "N(x)", "N<T>", "N]", "N}", "N^.$|*+?\\"));
}

// The status does not matter: a wrong command line also has 2.
TEST_F(BenchmarkProfilerTest, ABenchmarkThatExitsFails) {
  const MemoryProfile profile = MeasureAwkward("Litter|Exit|AfterChild", 1);
  EXPECT_EQ(profile.failure().detail(),
            "BM_Exit/0: exited with status 0 before it was measured; "
            "BM_Exit/2: exited with status 2; BM_Exit/3: exited with status 3");
  EXPECT_THAT(ListNames(profile),
              testing::ElementsAre("BM_Litter", "BM_AfterChild"));
  // The screen shows it as well as the profile.
  EXPECT_THAT(
      ReadText(Scratch("err")),
      testing::AllOf(
          HasSubstr("BM_Exit/0: exited with status 0 before it was measured\n"),
          HasSubstr("BM_Exit/3: exited with status 3\n")));
}

TEST_F(BenchmarkProfilerTest, ABenchmarkMayLeaveTheFolder) {
  const std::string folder = "AWKWARD_FOLDER=" + testing::TempDir();
  for (const std::string flags : {"", " --memory_one_process"}) {
    const std::string path = Scratch("relative");
    unlink(path.c_str());
    EXPECT_EQ(RunAwkward("--benchmark_filter='ChangeFolder|Litter' "
                         "--memory_profile_out=relative" +
                             flags,
                         folder),
              0);
    const auto profile = ReadMemoryProfileFile(path);
    ASSERT_THAT(profile, IsOk());
    EXPECT_THAT(ListNames(*profile),
                testing::ElementsAre("BM_Litter", "BM_ChangeFolder"));
  }
}

// If a time limit ends the run, only what was written before is known.
TEST_F(BenchmarkProfilerTest, SaysWhichBenchmarkRuns) {
  MeasureAwkward("Litter|Crash", 1);
  EXPECT_THAT(ReadText(Scratch("err")),
              testing::AllOf(HasSubstr("process 1 of 2: BM_Litter\n"),
                             HasSubstr("process 2 of 2: BM_Crash\n")));
}

TEST_F(BenchmarkProfilerTest, AFileBesideTheOutputIsTheUsers) {
  const std::string part = Scratch("awkward.part");
  std::ofstream(part) << "the user's";
  MeasureAwkward("AfterChild", 0);
  EXPECT_EQ(ReadText(part), "the user's");
  EXPECT_EQ(std::system(("! ls " + Scratch("awkward.??????")).c_str()), 0);
}

// main runs again in each process, and must find the same folder.
TEST_F(BenchmarkProfilerTest, EachProcessBeginsInTheFirstOnesFolder) {
  const std::string folder = "AWKWARD_FOLDER=profiling";
  EXPECT_THAT(ListNames(MeasureAwkward("AfterChild|Litter", 0, "", folder)),
              testing::SizeIs(2));
}

TEST_F(BenchmarkProfilerTest, EachProcessReadsItsInputFromTheBegin) {
  const std::string input = Scratch("input");
  std::ofstream(input) << "3 mebibytes\n";
  const MemoryProfile profile =
      MeasureAwkward("Input", 0, "<" + input, "AWKWARD_INPUT=1");
  EXPECT_THAT(ReadText(Scratch("err")), Not(HasSubstr("Standard input")));
  ASSERT_EQ(profile.benchmarks_size(), 1);
  EXPECT_EQ(Find(profile.benchmarks(0), PEAK_LIVE_USABLE_BYTES).value(),
            3 * kMebibyte);
}

TEST_F(BenchmarkProfilerTest, APipeThatCannotBeReadTwiceIsSaid) {
  MeasureAwkward("AfterChild", 0, "", "echo 3 |");
  EXPECT_THAT(ReadText(Scratch("err")),
              testing::AllOf(HasSubstr("Standard input is a pipe"),
                             HasSubstr("--memory_one_process")));
  MeasureAwkward("AfterChild", 0, "--memory_one_process", "echo 3 |");
  EXPECT_THAT(ReadText(Scratch("err")), Not(HasSubstr("Standard input")));
}

TEST_F(BenchmarkProfilerTest, WhatIsNoUtf8IsNamedBesideTheOthers) {
  for (const char* flags : {"", "--memory_one_process"}) {
    const MemoryProfile profile = MeasureAwkward("Foreign", 1, flags);
    EXPECT_EQ(profile.failure().detail(),
              "BM_Foreign_caf\\xe9: error: its name is not UTF-8, which a "
              "profile needs; rename it; BM_ForeignWord: error: caf\\xe9");
    EXPECT_THAT(ListNames(profile), testing::ElementsAre("BM_ForeignOther"));
  }
}

TEST_F(BenchmarkProfilerTest, BenchmarksOfOneNameAreSaid) {
  for (const char* flags : {"", "--memory_one_process"}) {
    const MemoryProfile profile = MeasureAwkward("Twice|AfterChild", 1, flags);
    EXPECT_EQ(profile.failure().detail(),
              "BM_Twice: error: another benchmark has the same name; rename "
              "one");
    EXPECT_THAT(ListNames(profile), testing::ElementsAre("BM_AfterChild"));
  }
}

TEST_F(BenchmarkProfilerTest, ALaterRepetitionThatFailsIsAFailure) {
  for (const char* flags : {"", "--memory_one_process"}) {
    const MemoryProfile profile = MeasureAwkward("Later", 1, flags);
    EXPECT_EQ(profile.failure().detail(),
              "BM_LaterRepetition/repeats:3: error: the second; "
              "BM_LaterAggregate/repeats:3: error: a repetition failed");
    EXPECT_EQ(profile.benchmarks_size(), 0);
  }
}

TEST_F(BenchmarkProfilerTest, AFailureOfTheOnlyBenchmarkIsSaid) {
  for (const char* flags : {"", "--memory_one_process"}) {
    const MemoryProfile profile = MeasureAwkward("Skip", 1, flags);
    EXPECT_EQ(profile.benchmarks_size(), 0);
    EXPECT_EQ(profile.failure().detail(), "BM_Skip: error: as it always does");
    EXPECT_THAT(ReadText(Scratch("err")), Not(HasSubstr("neither")));
  }
}

// The error comes before anything is measured.
TEST_F(BenchmarkProfilerTest, AFileThatCannotBeWrittenIsSaidAtOnce) {
  const std::string good = Scratch("good");
  for (const std::string& outputs :
       {std::string("--memory_profile_out=/dev/full"),
        std::string("--memory_profile_out=."),
        std::string("--memory_profile_out=/none/profile"),
        "--memory_samples_out=/none/samples --memory_profile_out=" + good}) {
    EXPECT_EQ(RunSample("--benchmark_filter=HoldBlock " + outputs), 1);
    const std::string said = ReadText(Scratch("err"));
    EXPECT_THAT(said, Not(HasSubstr("process 1 of"))) << outputs;
    EXPECT_THAT(said, testing::AnyOf(HasSubstr("is not a regular file"),
                                     HasSubstr("make the folder /none")));
    EXPECT_THAT(said, Not(HasSubstr("INVALID")));
  }
  EXPECT_NE(access(good.c_str(), F_OK), 0);
}

// The file itself could be made, but none beside it, whose name is longer.
TEST_F(BenchmarkProfilerTest, AFileBesideTheOutputThatCannotBeMadeIsSaid) {
  const std::string path = Scratch(std::string(252, 'p'));
  EXPECT_EQ(RunSample("--memory_profile_out=" + path), 1);
  EXPECT_THAT(
      ReadText(Scratch("err")),
      HasSubstr(path + ": no file can be made beside it: File name too long"));
}

// Its process ends with success, so the failure describes the file that it
// left.
TEST_F(BenchmarkProfilerTest, ABenchmarkThatSpoilsItsProfileFails) {
  const MemoryProfile profile = MeasureAwkward("Spoil|AfterChild", 1);
  EXPECT_THAT(profile.failure().detail(),
              testing::AllOf(StartsWith("BM_Spoil: "),
                             HasSubstr("is no memory profile")));
  EXPECT_THAT(ListNames(profile), testing::ElementsAre("BM_AfterChild"));
}

TEST_F(BenchmarkProfilerTest, RowsNeedOneProcess) {
  EXPECT_EQ(RunSample("--benchmark_out=" + Scratch("rows") +
                      " --memory_profile_out=" + Scratch("with_rows")),
            2);
  EXPECT_THAT(ReadText(Scratch("err")), HasSubstr("--memory_one_process"));
  EXPECT_EQ(RunSample("--benchmark_filter=NamePhases --memory_one_process "
                      "--benchmark_out=" +
                      Scratch("rows") +
                      " --memory_profile_out=" + Scratch("with_rows")),
            0);
}

TEST_F(BenchmarkProfilerTest, TheKernelsViewIsThereAndNotExact) {
  const Metric resident = Find(Find("BM_NamePhases"), PEAK_RESIDENT_BYTES);
  EXPECT_GT(resident.value(), 0);
  EXPECT_EQ(resident.determinism(), STATISTICAL);
}

TEST_F(BenchmarkProfilerTest, AFilterSelects) {
  ASSERT_EQ(RunSample("--benchmark_filter=NamePhases --memory_profile_out=" +
                      Scratch("one")),
            0);
  const auto profile = ReadMemoryProfileFile(Scratch("one"));
  ASSERT_THAT(profile, IsOk());
  ASSERT_EQ(profile->benchmarks_size(), 1);
  EXPECT_EQ(profile->benchmarks(0).name(), "BM_NamePhases");
}

TEST_F(BenchmarkProfilerTest, ABenchmarkThatFailsFailsTheRun) {
  EXPECT_EQ(RunSample("--memory_profile_out=" + Scratch("failed"),
                      "FOOTPRINT_SAMPLE_FAILS=1"),
            1);
  EXPECT_THAT(ReadText(Scratch("err")), HasSubstr("BM_Fail: "));
  EXPECT_THAT(ReadText(Scratch("err")), HasSubstr("as asked"));
}

TEST_F(BenchmarkProfilerTest, AFlagWithoutAFileFailsTheRun) {
  EXPECT_EQ(RunSample("--memory_profile_out="), 2);
  EXPECT_THAT(ReadText(Scratch("err")),
              HasSubstr("--memory_profile_out names no file"));
}

TEST_F(BenchmarkProfilerTest, AFilterThatSelectsNothingFailsTheRun) {
  EXPECT_EQ(RunSample("--benchmark_filter=NoSuch --memory_profile_out=" +
                      Scratch("none")),
            1);
  EXPECT_THAT(ReadText(Scratch("err")), HasSubstr("--benchmark_list_tests"));
}

TEST_F(BenchmarkProfilerTest, AnUnknownFlagIsNotPassedOver) {
  EXPECT_EQ(RunSample("--memory_profile=x"), 2);
}

TEST_F(BenchmarkProfilerTest, HelpNamesTheFlags) {
  EXPECT_EQ(RunSample("--help"), 0);
  EXPECT_THAT(ReadText(Scratch("out")), HasSubstr("--memory_profile_out=FILE"));
  EXPECT_THAT(ReadText(Scratch("out")), HasSubstr("--benchmark_filter"));
}

TEST_F(BenchmarkProfilerTest, AnOrdinaryRunShowsThePeak) {
  ASSERT_EQ(RunSample("--benchmark_filter=HoldBlock --benchmark_min_time=0.01"),
            0);
  // The rate is that of the loop, without the 4 MiB before it.
  EXPECT_THAT(ReadText(Scratch("out")),
              testing::AnyOf(HasSubstr(" 1048.58k"), HasSubstr(" 1.04858M")));
  EXPECT_THAT(ReadText(Scratch("err")), Not(HasSubstr("DEBUG")));
}

TEST_F(BenchmarkProfilerTest, JsonCarriesTheMemoryFields) {
  ASSERT_EQ(RunSample("--benchmark_filter=HoldBlock --benchmark_format=json "
                      "--benchmark_min_time=0.01"),
            0);
  EXPECT_THAT(ReadText(Scratch("out")), HasSubstr("\"max_bytes_used\""));
  EXPECT_THAT(ReadText(Scratch("out")), HasSubstr("\"net_heap_growth\": 0"));
}

}  // namespace
}  // namespace footprint
