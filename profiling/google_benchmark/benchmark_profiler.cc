#include "footprint/profiling/google_benchmark/benchmark_profiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/memory/process_memory.h"
#include "footprint/profiling/google_benchmark/benchmark_memory_manager.h"
#include "footprint/profiling/google_benchmark/benchmark_processes.h"
#include "footprint/profiling/google_benchmark/measured_peak.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/recording/memory_output_flags.h"
#include "footprint/profiling/recording/memory_phase.h"
#include "footprint/profiling/recording/profile_metrics.h"
#include "footprint/profiling/schema/benchmark_count.h"

namespace footprint {
namespace {

using benchmark::BenchmarkReporter;
using Run = BenchmarkReporter::Run;

// Splits the run of one benchmark at its loop. Allocates nothing while a
// benchmark runs.
class LoopRecorder {
 public:
  void ExpectBenchmark() {
    RecordMemoryPhases();
    // A thread that failed before its loop never arrived.
    arrived_at_begin_ = 0;
    arrived_at_end_ = 0;
    loops_begun_ = 0;
    loops_ended_ = 0;
    state_ = State::kSetup;
    phase_.emplace("setup", MemoryPhase::Around::kEveryThread);
  }

  // Each thread calls this before it waits for the others.
  void ThreadReachesLoop(int thread_count) {
    if (++arrived_at_begin_ < thread_count) return;
    arrived_at_begin_ = 0;
    arrived_at_end_ = 0;
    succeeded_at_end_ = 0;
    ++loops_begun_;
    if (state_ == State::kSetup) {
      state_ = State::kLoop;
      phase_.emplace("loop", MemoryPhase::Around::kEveryThread);
    } else if (state_ == State::kTeardown) {
      // This is a repetition, and only the first run counts.
      state_ = State::kRepetition;
      phase_.reset();
      StopRecordingMemoryPhases();
    }
  }

  // Ends the loop when the last thread leaves it. A thread that failed earlier
  // does not count.
  void ThreadLeavesLoop(int thread_count, bool has_failed) {
    if (!has_failed) {
      ++succeeded_at_end_;
      has_run_.store(true, std::memory_order_relaxed);
    }
    if (++arrived_at_end_ < thread_count) return;
    if (succeeded_at_end_.exchange(0) == thread_count) ++loops_ended_;
    if (state_ != State::kLoop) return;
    state_ = State::kTeardown;
    phase_.emplace("teardown", MemoryPhase::Around::kEveryThread);
  }

  // Returns whether a repetition failed before or in its loop. If only
  // aggregates are reported, nothing else shows that.
  bool ALoopFailed() const { return loops_ended_ != loops_begun_; }

  // Returns whether the loop of any benchmark ended, also in an ordinary run.
  bool HasRun() const { return has_run_.load(std::memory_order_relaxed); }

  // Returns false in an ordinary run.
  bool IsOn() const { return state_ != State::kOff; }

  // Returns whether there was a loop. No phase is open afterwards.
  bool EndBenchmark() {
    const bool had_loop =
        state_ == State::kTeardown || state_ == State::kRepetition;
    phase_.reset();
    state_ = State::kOff;
    return had_loop;
  }

 private:
  enum class State { kOff, kSetup, kLoop, kTeardown, kRepetition };

  State state_ = State::kOff;
  std::optional<MemoryPhase> phase_;
  std::atomic<int> arrived_at_begin_{0};
  std::atomic<int> arrived_at_end_{0};
  std::atomic<int> succeeded_at_end_{0};
  std::atomic<int> loops_begun_{0};
  std::atomic<int> loops_ended_{0};
  std::atomic<bool> has_run_{false};
};

LoopRecorder loop_recorder;

// Measures heap figures of only the loop, in the extra run in which Google
// Benchmark measures memory on one thread.
class LoopMemory {
 public:
  // Called before the run.
  void Expect() { state_ = State::kExpected; }
  void BeginLoop() {
    if (state_ != State::kExpected) return;
    phase_ = BeginHeapPhase();
    state_ = State::kInLoop;
  }
  void EndLoop() {
    if (state_ != State::kInLoop) return;
    bytes_ = EndHeapPhase(phase_);
    state_ = State::kMeasured;
  }
  // Returns nothing if the run had no loop.
  std::optional<HeapPhaseBytes> Take() {
    EndLoop();  // Ends the loop of a benchmark that threw.
    const bool is_measured = state_ == State::kMeasured;
    state_ = State::kOff;
    return is_measured ? std::make_optional(bytes_) : std::nullopt;
  }

 private:
  enum class State { kOff, kExpected, kInLoop, kMeasured };

  State state_ = State::kOff;
  HeapPhase phase_;
  HeapPhaseBytes bytes_;
};

LoopMemory loop_memory;

// Leaves out memory that is set up before the loop.
class LoopMemoryManager : public BenchmarkMemoryManager {
 public:
  void Start() override {
    BenchmarkMemoryManager::Start();
    loop_memory.Expect();
  }
  void Stop(Result& result) override {
    const std::optional<HeapPhaseBytes> loop = loop_memory.Take();
    BenchmarkMemoryManager::Stop(result);
    if (loop.has_value()) Store(*loop, &result);
  }
};

// A measured loop seems to last longer than any benchmark requires, for example
// by MinTime(), so that one run of it is enough.
constexpr int kSecondsAhead = 1000000000;
// How far this thread's clocks are ahead; see clock_gettime below.
thread_local int clock_seconds_ahead = 0;

// Run::error_occurred became Run::skipped in release 1.8.
template <typename AnyRun>
auto Failure(const AnyRun& run, int)
    -> decltype(run.error_occurred, std::string()) {
  return run.error_occurred ? "error: " + run.error_message : "";
}
template <typename AnyRun>
auto Failure(const AnyRun& run, long) -> decltype(run.skipped, std::string()) {
  // Uses numbers, because the release that has error_occurred lacks the names.
  constexpr int kNotSkipped = 0;
  constexpr int kSkippedWithMessage = 1;
  const int skipped = static_cast<int>(run.skipped);
  if (skipped == kNotSkipped) return "";
  return (skipped == kSkippedWithMessage ? "skipped: " : "error: ") +
         run.skip_message;
}

void AddArguments(const std::string& arguments, BenchmarkMemory* memory) {
  for (absl::string_view part :
       absl::StrSplit(arguments, '/', absl::SkipEmpty())) {
    const size_t colon = part.find(':');
    Argument* argument = memory->add_arguments();
    if (colon == absl::string_view::npos) {
      argument->set_value(std::string(part));
    } else {
      argument->set_name(std::string(part.substr(0, colon)));
      argument->set_value(std::string(part.substr(colon + 1)));
    }
  }
}

// Returns the bytes of Google Benchmark's description of the host: its name and
// its caches. They differ between hosts, so they do not count as live.
int64_t HostDescriptionBytes() {
  const int64_t before_bytes = LiveHeapBytes();
  benchmark::CPUInfo::Get();
  benchmark::SystemInfo::Get();
  return LiveHeapBytes() - before_bytes;
}

// Turns the records of each benchmark into the profile.
class ProfileReporter : public BenchmarkReporter {
 public:
  // `on_begin` is called when benchmarks begin, outside any phase.
  ProfileReporter(int64_t host_description_bytes,
                  std::function<void()> on_begin)
      : host_description_bytes_(host_description_bytes),
        on_begin_(std::move(on_begin)) {}

  bool ReportContext(const Context& /*context*/) override {
    on_begin_();
    ExpectBenchmark();
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    const bool had_loop = loop_recorder.EndBenchmark();
    // Repetitions may be reported a second time, or only, as their aggregates.
    if (!runs.empty() && (had_loop || runs[0].run_type == Run::RT_Iteration)) {
      Record(runs, had_loop);
    }
    ExpectBenchmark();
  }

  void Finalize() override { loop_recorder.EndBenchmark(); }

  MemoryProfile TakeProfile() { return std::move(profile_); }
  // Returns why benchmarks have no measurement, each after its name.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void ExpectBenchmark() {
    forks_before_ = CountedForks();
    children_before_ = ChildProcessMark();
    loop_recorder.ExpectBenchmark();
  }

  // Returns why the benchmark of these repetitions has no measurement, or "".
  std::string FindFailure(const std::vector<Run>& runs, bool had_loop) {
    for (const Run& run : runs) {
      const std::string failure = Failure(run, 0);
      if (!failure.empty()) return failure;
    }
    if (!had_loop) return "error: it has no loop";
    if (runs[0].run_type != Run::RT_Iteration && loop_recorder.ALoopFailed()) {
      return "error: a repetition failed";
    }
    const std::string fault = MemoryPhasesFault();
    if (!fault.empty()) return "error: " + fault;
    const std::string name = runs[0].run_name.str();
    if (AsUtf8(name) != name) {
      return "error: its name is not UTF-8, which a profile needs; rename it";
    }
    if (names_.insert(name).second) return "";
    // Removes the other benchmark of this name as well.
    auto* const benchmarks = profile_.mutable_benchmarks();
    benchmarks->erase(std::remove_if(benchmarks->begin(), benchmarks->end(),
                                     [&name](const BenchmarkMemory& benchmark) {
                                       return benchmark.name() == name;
                                     }),
                      benchmarks->end());
    return "error: another benchmark has the same name; rename one";
  }

  void Record(const std::vector<Run>& runs, bool had_loop) {
    const Run& run = runs[0];
    const std::string name = run.run_name.str();
    const std::string failure = FindFailure(runs, had_loop);
    if (!failure.empty()) {
      failures_.push_back(AsUtf8(absl::StrCat(name, ": ", failure)));
      std::cerr << failures_.back() << "\n";
      return;
    }
    BenchmarkMemory* memory = profile_.add_benchmarks();
    memory->set_name(name);
    AddArguments(run.run_name.args, memory);
    AddRecordedPhases(/*parent=*/-1, memory->mutable_phases());
    for (Phase& phase : *memory->mutable_phases()) {
      LeaveOutHostDescription(phase.mutable_metrics());
    }
    for (const Phase& phase : memory->phases()) {
      if (phase.name() == "loop") *memory->mutable_metrics() = phase.metrics();
    }
    AddProcessMetrics(memory->mutable_metrics());
    AttributePeakToPhases(memory);
    memory->set_forked_process_count(
        std::max(CountedForks() - forks_before_,
                 children_before_.HasStartedSince() ? 1 : 0));
    std::cerr << name << ": measured\n";
  }

  void LeaveOutHostDescription(Metrics* metrics) const {
    for (Metric& metric : *metrics) {
      if (metric.kind() != PEAK_LIVE_ABSOLUTE_USABLE_BYTES) continue;
      metric.set_value(metric.value() - host_description_bytes_);
    }
  }

  const int64_t host_description_bytes_;
  const std::function<void()> on_begin_;
  MemoryProfile profile_;
  std::set<std::string> names_;  // Names that are measured, or used twice.
  std::vector<std::string> failures_;
  int forks_before_ = 0;
  ChildProcessMark children_before_;
};

// The console output with the peak as a column. It leaves out the default
// reporter's remark on how the library was built, which does not concern the
// user.
class MemoryConsoleReporter : public benchmark::ConsoleReporter {
 public:
  MemoryConsoleReporter()
      : ConsoleReporter(isatty(STDOUT_FILENO) ? OO_Defaults : OO_Tabular) {}

  bool ReportContext(const Context& context) override {
    name_field_width_ = context.name_field_width;
    printed_header_ = false;
    prev_counters_.clear();
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> with_peak = runs;
    for (Run& run : with_peak) {
      const std::optional<int64_t> peak_bytes =
          MeasuredPeakBytes(run.memory_result);
      if (!peak_bytes.has_value()) continue;
      run.counters["peak_bytes"] = static_cast<double>(*peak_bytes);
      run.counters["allocations"] = run.allocs_per_iter;
    }
    ConsoleReporter::ReportRuns(with_peak);
  }
};

void PrintHelp() {
  std::cout << "Benchmarks whose memory is measured.\n"
            << kMemoryOutputFlagsHelp
            << "  --memory_one_process       not a process for each benchmark\n"
            << "Without these flags, the usual benchmark run; its flags:\n";
  benchmark::PrintDefaultHelp();
}

bool AsksForHelp(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* argument) {
    return std::strcmp(argument, "--help") == 0;
  });
}

enum class Process {
  kFirst,   // Starts one process for each benchmark.
  kOnly,    // --memory_one_process
  kOfPart,  // =part: started by the first process.
};

// Removes --memory_one_process from the command line before "--", if it is
// there.
Process TakeOneProcess(int* argc, char** argv) {
  Process process = Process::kFirst;
  char** const end = argv + *argc;
  char** const options_end = std::find_if(argv, end, [](const char* argument) {
    return std::strcmp(argument, "--") == 0;
  });
  char** const kept_end =
      std::remove_if(argv, options_end, [&process](const char* argument) {
        const bool is_part =
            std::strcmp(argument, "--memory_one_process=part") == 0;
        const bool is_only = std::strcmp(argument, "--memory_one_process") == 0;
        if (is_part) process = Process::kOfPart;
        if (is_only && process == Process::kFirst) process = Process::kOnly;
        return is_part || is_only;
      });
  *argc = static_cast<int>(std::move(options_end, end, kept_end) - argv);
  argv[*argc] = nullptr;
  return process;
}

bool ChoosesFormat(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* argument) {
    return absl::string_view(argument).substr(0, 18) == "--benchmark_format";
  });
}

bool Initialize(std::vector<char*> arguments) {
  int argc = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&argc, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(argc, arguments.data());
}

int NoBenchmark() {
  std::cerr << "No benchmark was selected; see --benchmark_list_tests.\n";
  return 1;
}

// Writes the measured benchmarks. Returns the exit status.
int WriteMeasured(MemoryProfile profile,
                  const std::vector<std::string>& failures,
                  const MemoryOutputs& outputs) {
  if (!failures.empty()) {
    ProducerFailure* failure = profile.mutable_failure();
    failure->set_kind(ProducerFailure::BENCHMARKS_FAILED);
    failure->set_detail(absl::StrJoin(failures, "; "));
  }
  const absl::Status status = WriteMemoryOutputs(std::move(profile), outputs);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() && failures.empty() ? 0 : 1;
}

// The folder in which benchmarks begin. They may leave it, but outputs are
// relative to it.
class WorkingFolder {
 public:
  WorkingFolder() : folder_(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() {
    if (folder_ >= 0) close(folder_);
  }
  // If the folder is lost, the process stays where it is.
  void Return() const {
    if (fchdir(folder_) != 0) errno = 0;
  }

 private:
  const int folder_;
};

int MeasureHere(const BenchmarkRunner& run, const NoteSource& notes,
                Process process, const MemoryOutputs& outputs) {
  ProfileReporter reporter(HostDescriptionBytes(), [&outputs, process] {
    if (process == Process::kOfPart) SayBegun(outputs.profile_path);
  });
  const WorkingFolder folder;
  if (run(&reporter) == 0) return NoBenchmark();
  folder.Return();
  MemoryProfile profile = reporter.TakeProfile();
  if (notes != nullptr) {
    for (Remark& remark : notes()) *profile.add_remarks() = std::move(remark);
  }
  return WriteMeasured(std::move(profile), reporter.failures(), outputs);
}

bool AsksForRows(const std::vector<std::string>& command_line) {
  const char* const file = std::getenv("BENCHMARK_OUT");
  return (file != nullptr && *file != '\0') ||
         std::any_of(command_line.begin(), command_line.end(),
                     [](const std::string& argument) {
                       return absl::StartsWith(argument, "--benchmark_out=");
                     });
}

// A new file beside `output`, which the destructor removes. Every process
// writes to the same name, since its length may reach the heap.
class PartFile {
 public:
  explicit PartFile(const std::string& output) : path_(output + ".XXXXXX") {
    const int file = mkstemp(&path_[0]);
    if (file < 0) {
      path_.clear();
    } else {
      close(file);
    }
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  // Returns "" if the file could not be made; errno has the reason.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Tests the wanted files before minutes are spent on measuring.
absl::Status CheckWritable(const MemoryOutputs& outputs) {
  for (const std::string* path :
       {&outputs.profile_path, &outputs.samples_path}) {
    const absl::Status status =
        path->empty() ? absl::OkStatus() : CheckReplaceable(*path);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

int MeasureInProcesses(const ProcessSharing& sharing,
                       const MemoryOutputs& outputs) {
  std::string complaints;
  const std::vector<std::string> names = ListBenchmarks(&complaints);
  std::cerr << complaints;
  if (names.empty()) return NoBenchmark();
  // Refuses what several processes cannot do, and outputs that cannot be
  // written.
  const std::vector<std::string> command_line = CommandLine();
  if (AsksForRows(command_line)) {
    std::cerr << "--benchmark_out, or BENCHMARK_OUT, wants the rows of one "
                 "process, and each benchmark has its own; leave it out, or "
                 "add --memory_one_process.\n";
    return 2;
  }
  if (InputIsStream()) {
    std::cerr << "Standard input is a pipe or a socket, which the benchmarks' "
                 "processes cannot read again: they find nothing there. If "
                 "this program reads it, give it a file, or measure with "
                 "--memory_one_process.\n";
  }
  const absl::Status writable = CheckWritable(outputs);
  if (!writable.ok()) {
    std::cerr << writable.message() << "\n";
    return 1;
  }
  const std::string& output = outputs.profile_path.empty()
                                  ? outputs.samples_path
                                  : outputs.profile_path;
  const PartFile part(output);
  if (part.path().empty()) {
    std::cerr << output
              << ": no file can be made beside it: " << std::strerror(errno)
              << "; check that its folder is there and can be written\n";
    return 1;
  }
  // Measures each group of benchmarks in a process of its own.
  MemoryProfile profile;
  std::vector<std::string> failures;
  const std::vector<BenchmarkGroup> groups = GroupBenchmarks(names, sharing);
  for (size_t i = 0; i < groups.size(); ++i) {
    const BenchmarkGroup& group = groups[i];
    // If the program is killed, the last such line names what ran.
    std::cerr << "process " << i + 1 << " of " << groups.size() << ": "
              << AsUtf8(group.names[0]) << "\n";
    const absl::StatusOr<bool> is_measured =
        MeasureGroup(command_line, group, part.path(), &profile, &failures);
    if (!is_measured.ok()) {
      std::cerr << is_measured.status().message() << "\n";
      return 1;
    }
    if (!*is_measured) return 2;
  }
  return WriteMeasured(std::move(profile), failures, outputs);
}

int MeasureMemory(const BenchmarkRunner& run, const NoteSource& notes,
                  const ProcessSharing& sharing, Process process,
                  const MemoryOutputs& outputs) {
  if (!HeapIsAccounted()) {
    std::cerr << "This program's allocations are not counted; link it with "
                 "malloc = \"//profiling:exact_heap\".\n";
    return 2;
  }
  return process == Process::kFirst ? MeasureInProcesses(sharing, outputs)
                                    : MeasureHere(run, notes, process, outputs);
}

// Prints how many benchmarks ran, unless at a terminal, where the table shows
// it.
void SayHowManyRan(size_t count) {
  if (isatty(STDERR_FILENO) == 0) std::cerr << BenchmarkCountLine(count);
}

int RunOrdinarily(const BenchmarkRunner& run, bool console) {
  LoopMemoryManager memory_manager;
  if (HeapIsAccounted()) benchmark::RegisterMemoryManager(&memory_manager);
  MemoryConsoleReporter reporter;
  const size_t count = run(console ? &reporter : nullptr);
  benchmark::RegisterMemoryManager(nullptr);
  // A list of benchmarks also has a count, but runs none.
  SayHowManyRan(loop_recorder.HasRun() ? count : 0);
  return count == 0 ? NoBenchmark() : 0;
}

}  // namespace

size_t RunWithGoogleBenchmark(BenchmarkReporter* reporter) {
  return benchmark::RunSpecifiedBenchmarks(reporter);
}

int ProfileBenchmarks(int argc, char** argv, const BenchmarkRunner& run,
                      const NoteSource& notes, const ProcessSharing& sharing) {
  if (AsksForHelp(argc, argv)) {
    PrintHelp();
    SayHowManyRan(0);
    return 0;
  }
  const absl::StatusOr<MemoryOutputs> flags =
      TakeMemoryOutputFlags(&argc, argv);
  if (!flags.ok()) {
    std::cerr << flags.status().message() << "\n";
    return 2;
  }
  const MemoryOutputs& outputs = *flags;
  const Process process = TakeOneProcess(&argc, argv);
  const bool console = !ChoosesFormat(argc, argv);
  std::vector<char*> arguments(argv, argv + argc);
  // A count that depends on time becomes one iteration.
  static char no_minimum_time[] = "--benchmark_min_time=0";
  const bool measures =
      !outputs.profile_path.empty() || !outputs.samples_path.empty();
  // Interleaved benchmarks could not be told apart.
  static char no_interleaving[] =
      "--benchmark_enable_random_interleaving=false";
  if (measures) {
    arguments.push_back(no_minimum_time);
    arguments.push_back(no_interleaving);
  }
  if (!Initialize(std::move(arguments))) return 2;
  const int status = measures
                         ? MeasureMemory(run, notes, sharing, process, outputs)
                         : RunOrdinarily(run, console);
  benchmark::Shutdown();
  return status;
}

}  // namespace footprint

// The linker sends every call of benchmark::State::StartKeepRunning and
// FinishKeepRunning here (--wrap in this library's linkopts).
extern "C" {

void __real__ZN9benchmark5State16StartKeepRunningEv(benchmark::State* state);
void __real__ZN9benchmark5State17FinishKeepRunningEv(benchmark::State* state);

void __wrap__ZN9benchmark5State16StartKeepRunningEv(benchmark::State* state) {
  footprint::loop_recorder.ThreadReachesLoop(
      static_cast<int>(state->threads()));
  footprint::loop_memory.BeginLoop();
  __real__ZN9benchmark5State16StartKeepRunningEv(state);
}

void __wrap__ZN9benchmark5State17FinishKeepRunningEv(benchmark::State* state) {
  footprint::loop_memory.EndLoop();
  footprint::loop_recorder.ThreadLeavesLoop(static_cast<int>(state->threads()),
                                            state->error_occurred());
  if (footprint::loop_recorder.IsOn()) {
    // Sets the time that UseManualTime() uses, and the clock for all other
    // benchmarks.
    state->SetIterationTime(footprint::kSecondsAhead);
    footprint::clock_seconds_ahead = footprint::kSecondsAhead;
  }
  __real__ZN9benchmark5State17FinishKeepRunningEv(state);
  footprint::clock_seconds_ahead = 0;
}

// Calls the C library's function. It adds to the result only while Google
// Benchmark, or the C++ library for it, takes the time of a measured loop.
int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Function = int (*)(clockid_t, timespec*);
  static std::atomic<Function> next{nullptr};
  Function call = next.load(std::memory_order_relaxed);
  if (call == nullptr) {
    call = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
    next.store(call, std::memory_order_relaxed);
  }
  const int result = call(clock, time);
  if (result == 0) time->tv_sec += footprint::clock_seconds_ahead;
  return result;
}

}  // extern "C"
