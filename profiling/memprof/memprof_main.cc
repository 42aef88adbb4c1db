// memprof: which memory a program needs, without changing it.
//
//   memprof [OPTIONS] PROGRAM ARGUMENT...

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/profiling/live_view/live_view.h"
#include "footprint/profiling/live_view/run_so_far.h"
#include "footprint/profiling/memprof/judge_limit.h"
#include "footprint/profiling/memprof/make_measured_run.h"
#include "footprint/profiling/memprof/measurable_program.h"
#include "footprint/profiling/memprof/memprof_options.h"
#include "footprint/profiling/memprof/run_with_agent.h"
#include "footprint/profiling/memprof/source_lines.h"
#include "footprint/profiling/memprof/try_container_limit.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/reports/csv_report.h"
#include "footprint/profiling/reports/json_report.h"
#include "footprint/profiling/reports/memory_profile_report.h"
#include "footprint/profiling/reports/pprof_report.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/reports/speedscope_report.h"
#include "footprint/profiling/reports/text_report.h"
#include "footprint/profiling/run_page/comparison_page.h"
#include "footprint/profiling/run_page/run_page.h"
#include "footprint/profiling/runs/measured_run_file.h"
#include "footprint/profiling/runs/reduced_run.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

// The exit status of a run under --limit.
int Judge(const MeasuredRun& run, int64_t limit_bytes) {
  const LimitJudgement judgement = JudgeLimit(run, limit_bytes);
  std::cerr << judgement.text;
  return judgement.exit_status;
}

std::vector<std::string> OutputPaths(const MemprofOptions& options) {
  return {options.record_path,     options.json_path,    options.pprof_path,
          options.speedscope_path, options.csv_path,     options.proto_path,
          options.page_path,       options.markdown_path};
}

// Runs before the program, so that a mistyped path loses no run.
absl::Status CheckOutputs(const MemprofOptions& options) {
  for (const std::string& path : OutputPaths(options)) {
    if (path.empty()) continue;
    absl::Status status = CheckOutputFile(path);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Shows source lines whose files have not changed since the run.
SourceOfFrame SourceOf(const MeasuredRun& run) {
  const auto lines = std::make_shared<SourceLines>(run.begin_unix_time_ns());
  return [lines](const CodeFrame& frame) { return lines->Read(frame); };
}

// Rows below the thresholds of the text have room on a page.
RunReportOptions PageOptions(const MeasuredRun& run,
                             const MemprofOptions& options) {
  RunReportOptions page;
  page.source = SourceOf(run);
  page.left_from = options.left_from;
  page.left_until = options.left_until;
  return page;
}

absl::Status WriteOutputs(const MeasuredRun& run,
                          const MemprofOptions& options) {
  absl::Status status;
  if (!options.record_path.empty()) {
    status.Update(WriteMeasuredRunFile(run, options.record_path));
  }
  if (!options.json_path.empty()) {
    status.Update(WriteOutputFile(options.json_path, JsonReport(run)));
  }
  if (!options.page_path.empty()) {
    status.Update(WriteOutputFile(options.page_path,
                                  RunPage(run, PageOptions(run, options))));
  }
  if (!options.markdown_path.empty()) {
    status.Update(WriteOutputFile(options.markdown_path, MarkdownReport(run)));
  }
  if (!options.proto_path.empty()) {
    status.Update(
        WriteMemoryProfileFile(MemoryProfileReport(run), options.proto_path));
  }
  if (!options.pprof_path.empty()) {
    const absl::StatusOr<std::string> bytes = PprofReport(run);
    status.Update(bytes.ok() ? WriteOutputFile(options.pprof_path, *bytes)
                             : bytes.status());
  }
  if (!options.speedscope_path.empty()) {
    const absl::StatusOr<std::string> json = SpeedscopeReport(run);
    status.Update(json.ok() ? WriteOutputFile(options.speedscope_path, *json)
                            : json.status());
  }
  if (!options.csv_path.empty()) {
    status.Update(WriteOutputFile(options.csv_path, CsvReport(run)));
  }
  return status;
}

TextOptions TextOptionsFor(const MeasuredRun& run,
                           const MemprofOptions& options, int descriptor) {
  TextOptions text;
  text.source = SourceOf(run);
  text.left_from = options.left_from;
  text.left_until = options.left_until;
  text.is_colored = isatty(descriptor) == 1;
  text.memory_threshold = options.memory_threshold;
  text.cpu_threshold = options.cpu_threshold;
  return text;
}

MeasuredRun Reduced(MeasuredRun run, const MemprofOptions& options) {
  if (!options.is_reduced) return run;
  RunThresholds thresholds;
  thresholds.memory_percent = options.memory_threshold.percent;
  thresholds.memory_bytes = options.memory_threshold.amount;
  thresholds.processor_percent = options.cpu_threshold.percent;
  return ReducedRun(run, thresholds);
}

// While names are found, which may take seconds: a line on a terminal, gone
// afterwards. None while the program runs, whose terminal it is.
class NamingNotice {
 public:
  NamingNotice() : is_shown_(isatty(STDERR_FILENO) == 1) {
    if (is_shown_) std::cerr << "memprof: finding names ...";
  }
  ~NamingNotice() {
    if (is_shown_) std::cerr << "\r\x1b[K";
  }
  NamingNotice(const NamingNotice&) = delete;
  NamingNotice& operator=(const NamingNotice&) = delete;

 private:
  const bool is_shown_;
};

// Names are found in debug information, for which elfutils takes up to 128 KiB
// of the stack in one call.
constexpr size_t kNamingStackBytes = size_t{8} << 20;

// Runs `work` in a thread with room, or in this one where none can be made.
void RunOnLargeStack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kNamingStackBytes);
  const auto run = [](void* pointer) -> void* {
    (*static_cast<const std::function<void()>*>(pointer))();
    return nullptr;
  };
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run,
                                   const_cast<std::function<void()>*>(&work));
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    work();
    return;
  }
  pthread_join(thread, nullptr);
}

MeasuredRun NamedRun(const MemprofOptions& options, const AgentRunEnd& end) {
  const NamingNotice notice;
  MeasuredRun named;
  const auto find_names = [&] { named = MakeMeasuredRun(options.run, end); };
  rlimit stack = {};
  getrlimit(RLIMIT_STACK, &stack);
  if (stack.rlim_cur < kNamingStackBytes) {
    RunOnLargeStack(find_names);
  } else {
    find_names();
  }
  return Reduced(std::move(named), options);
}

// Returns whether the program ended by a signal or by _exit, so that its own
// account of it may be missing. What it became by exec is the program, too.
bool EndedAtOnce(const AgentRunEnd& end) {
  if (end.signal_number != 0) return true;
  const MeasuredImage* last = nullptr;
  for (const MeasuredProcess& each : end.processes) {
    const MeasuredImage& image = each.figures;
    if (last == nullptr || (image.process_id() == last->process_id() &&
                            image.image() > last->image())) {
      last = &image;
    }
  }
  return last != nullptr && last->end() != MeasuredImage::EXITED;
}

bool WritesSomething(const MemprofOptions& options) {
  const std::vector<std::string> paths = OutputPaths(options);
  return options.limit_bytes.has_value() || options.tries_container ||
         std::any_of(paths.begin(), paths.end(),
                     [](const std::string& path) { return !path.empty(); });
}

void ShowReport(const MeasuredRun& run, const MemprofOptions& options) {
  std::cerr << "\nmemprof: " << options.run.arguments[0] << "\n"
            << TextReport(run, TextOptionsFor(run, options, STDERR_FILENO));
}

// Lets the view begin and end with the program, which runs without it where
// there is no terminal.
void ShowWhileRunning(LiveView* view, AgentRun* run) {
  run->on_begin = [view](const std::string& folder) {
    const absl::Status status = view->Begin(folder);
    if (!status.ok()) {
      std::cerr << "memprof: --live shows nothing: " << status.message()
                << "\n";
    }
  };
  run->on_end = [view] { view->End(); };
}

absl::StatusOr<AgentRunEnd> RunProgram(const MemprofOptions& options) {
  if (!options.is_live) return RunWithAgent(options.run);
  LiveView view;
  AgentRun run = options.run;
  ShowWhileRunning(&view, &run);
  return RunWithAgent(run);
}

std::string RemovedFolderText(const AgentRunEnd& end) {
  return absl::StrCat("the program removed ", end.removed_folder,
                      ", where its records were, so processes that began later "
                      "are not measured; set TMPDIR to a folder that it leaves "
                      "alone");
}

// Why no process has a record.
absl::Status NothingRecorded(const AgentRunEnd& end) {
  if (!end.removed_folder.empty()) {
    return absl::InternalError(RemovedFolderText(end));
  }
  return absl::InternalError(
      "the agent wrote nothing: the program may have ended before main, or "
      "its loader refused the agent (see above)");
}

// Ends this process as an interrupt ended the program: the shell that runs both
// ends its loop only if what it waits for ended so.
void EndByInterrupt() {
  std::signal(SIGINT, SIG_DFL);
  raise(SIGINT);
}

absl::StatusOr<int> ReportRun(MemprofOptions options) {
  absl::StatusOr<std::string> program =
      FindMeasurableProgram(options.run.arguments[0]);
  if (!program.ok()) return program.status();
  options.run.program = *program;
  absl::Status status = CheckOutputs(options);
  if (!status.ok()) return status;
  absl::StatusOr<AgentRunEnd> end = RunProgram(options);
  if (!end.ok()) return end.status();
  const bool is_shown = !options.is_quiet || EndedAtOnce(*end);
  // Nobody would read the names, and finding them takes seconds.
  if (!is_shown && !end->processes.empty() && !WritesSomething(options)) {
    return end->exit_status;
  }
  MeasuredRun run = NamedRun(options, *end);
  if (options.tries_container) TryContainerLimit(options.run, &run);
  if (is_shown) ShowReport(run, options);
  const int program_status =
      run.signal_number() != 0 ? 128 + run.signal_number() : run.exit_status();
  // A signal may come before the agent begins.
  if (run.images().empty() && run.signal_number() == 0) {
    const absl::Status unmeasured = NothingRecorded(*end);
    // A program that failed keeps its own exit status. A success would be taken
    // for a measured one, so it becomes an error.
    if (program_status == 0 || options.limit_bytes.has_value()) {
      return unmeasured;
    }
    std::cerr << "memprof: " << unmeasured.message() << "\n";
    return program_status;
  }
  status = WriteOutputs(run, options);
  if (!status.ok()) return status;
  if (!end->removed_folder.empty() && !run.images().empty()) {
    const std::string text = RemovedFolderText(*end);
    // What is not measured may be above the limit.
    if (options.limit_bytes.has_value()) return absl::InternalError(text);
    std::cerr << "memprof: " << text << "\n";
  }
  if (options.limit_bytes.has_value()) return Judge(run, *options.limit_bytes);
  if (run.signal_number() == SIGINT) EndByInterrupt();
  return program_status;
}

absl::StatusOr<MeasuredRun> ReadRun(const std::string& path) {
  return IsAgentsRecord(path) ? ReadRunSoFar(path) : ReadMeasuredRunFile(path);
}

absl::StatusOr<int> ReportRecord(const MemprofOptions& options) {
  absl::StatusOr<MeasuredRun> read = ReadRun(options.from_path);
  if (!read.ok()) return read.status();
  const MeasuredRun run = Reduced(*std::move(read), options);
  absl::Status status = CheckOutputs(options);
  if (!status.ok()) return status;
  if (!options.is_quiet) {
    std::cout << "memprof: " << absl::StrJoin(run.program(), " ") << "\n"
              << TextReport(run, TextOptionsFor(run, options, STDOUT_FILENO));
  }
  status = WriteOutputs(run, options);
  if (!status.ok()) return status;
  return options.limit_bytes.has_value() ? Judge(run, *options.limit_bytes) : 0;
}

absl::StatusOr<int> CompareRecords(const MemprofOptions& options) {
  const absl::StatusOr<MeasuredRun> before =
      ReadMeasuredRunFile(options.compare_before_path);
  if (!before.ok()) return before.status();
  const absl::StatusOr<MeasuredRun> after =
      ReadMeasuredRunFile(options.compare_after_path);
  if (!after.ok()) return after.status();
  absl::Status status = CheckOutputs(options);
  if (!status.ok()) return status;
  std::cout << CompareText(*before, *after);
  if (!options.page_path.empty()) {
    status.Update(
        WriteOutputFile(options.page_path, ComparisonPage(*before, *after)));
  }
  if (!options.markdown_path.empty()) {
    status.Update(WriteOutputFile(options.markdown_path,
                                  MarkdownComparison(*before, *after)));
  }
  if (!status.ok()) return status;
  return 0;
}

absl::StatusOr<int> Run(int argc, char** argv) {
  EnterCallersFolder();
  absl::StatusOr<MemprofOptions> options = ParseMemprofOptions(argc, argv);
  if (!options.ok()) return options.status();
  if (options->help) {
    std::cout << kMemprofHelp;
    return FinishStandardOutput("memprof");
  }
  const bool is_comparison = !options->compare_before_path.empty();
  if (!is_comparison && options->from_path.empty()) {
    return ReportRun(*std::move(options));
  }
  const absl::StatusOr<int> exit_code =
      is_comparison ? CompareRecords(*options) : ReportRecord(*options);
  if (!exit_code.ok()) return exit_code;
  return FinishStandardOutput("memprof", *exit_code);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const absl::StatusOr<int> exit_code = footprint::Run(argc, argv);
  if (exit_code.ok()) return *exit_code;
  std::cerr << "memprof: " << exit_code.status().message() << "\n";
  return 2;
}
