// scaling measures how a program's memory grows with its variables.
//
//   scaling --grid='features=10,100 rows=1000,2000' PROGRAM --rows={rows} ...

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/memory/available_memory.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/progress_bar.h"
#include "footprint/profiling/scaling/grid.h"
#include "footprint/profiling/scaling/measured_cell.h"
#include "footprint/profiling/scaling/scaled_runs.h"
#include "footprint/profiling/scaling/scaling_report.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(scaling runs a program for each point of a grid of its variables, under
memprof, and fits the law by which the memory of each stage grows.

  scaling --grid='features=10,100,500 rows=1000,10000' [OPTIONS]
      PROGRAM --features={features} --rows={rows}

Each combination of values is a run. {features} stands for the value of features;
{{ and }} stand for braces. The report goes to standard output: for each stage, its
share and bytes of the peak and of the allocated volume, and its laws.

Options, before PROGRAM:
  --html=FILE     write the report as a page
  --json=FILE     write the report as JSON, for other programs
  --proto=FILE    write the runs as one MemoryProfile, for --with
  --name=NAME     the program's name in the report (default: its own name)
  --with=FILE     also show the benchmarks of a MemoryProfile; NAME:FILE calls
                  that program NAME; may be repeated
  --variables=A,B with --with and without a program: show the measured benchmarks
                  over these arguments
  --beyond_memory also run points that would need more memory than this machine
                  has
  --help          print this text

If a run fails, the report names it and the other runs continue. scaling sets
PYTHONHASHSEED=0 and one thread for BLAS and OpenMP, unless the environment has
other values.

Exit status: 0 every point was run; 1 a run failed or was left out; 2 the command
line is wrong, or a file cannot be written; 130 interrupted.
)";

struct ScalingOptions {
  bool help = false;
  bool beyond_memory = false;
  std::string grid;
  std::string name;
  std::string html_path;
  std::string json_path;
  std::string proto_path;
  std::vector<std::string> with;
  std::vector<std::string> variables;
  std::vector<std::string> program;
};

absl::Status SetOption(absl::string_view word, ScalingOptions* options) {
  const size_t equals = word.find('=');
  const absl::string_view name = word.substr(0, equals);
  const std::string value(
      equals == absl::string_view::npos ? "" : word.substr(equals + 1));
  if (word == "--beyond_memory") {
    options->beyond_memory = true;
    return absl::OkStatus();
  }
  // Sets the options that have one text.
  const std::vector<std::pair<std::string, std::string*>> texts = {
      {"--grid", &options->grid},
      {"--name", &options->name},
      {"--html", &options->html_path},
      {"--json", &options->json_path},
      {"--proto", &options->proto_path}};
  std::vector<std::string> names = {"--with", "--variables", "--beyond_memory",
                                    "--help"};
  for (const auto& [known, text] : texts) {
    names.push_back(known);
    if (name != known) continue;
    // The grid reports an empty grid itself.
    if (value.empty() && text != &options->grid) {
      return absl::InvalidArgumentError(
          absl::StrCat(known, " has no value; write ", known, "=..."));
    }
    *text = value;
    return absl::OkStatus();
  }
  // Sets the options that have lists.
  if (value.empty() && (name == "--with" || name == "--variables")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has no value; write ", name, "=..."));
  }
  if (name == "--with") {
    options->with.push_back(value);
    return absl::OkStatus();
  }
  if (name == "--variables") {
    options->variables = absl::StrSplit(value, ',', absl::SkipEmpty());
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown option ", word, DidYouMean(name, names),
                   "; scaling --help lists them"));
}

absl::StatusOr<ScalingOptions> ParseOptions(int argc, char** argv) {
  ScalingOptions options;
  int i = 1;
  for (; i < argc && absl::StartsWith(argv[i], "-"); ++i) {
    const absl::string_view word = argv[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (word == "--help" || word == "-h") {
      options.help = true;
      return options;
    }
    absl::Status status = SetOption(word, &options);
    if (!status.ok()) return status;
  }
  options.program.assign(argv + i, argv + argc);
  if (!options.program.empty() && !options.variables.empty()) {
    return absl::InvalidArgumentError(
        "--variables are for a report without a program; of a program that is "
        "run, --grid names them");
  }
  if (options.program.empty() &&
      (options.with.empty() || options.variables.empty())) {
    return absl::InvalidArgumentError(
        "which program? For example: scaling --grid='rows=1000,2000' python3 "
        "train.py --rows={rows}");
  }
  return options;
}

// Shows the progress: a bar on a terminal, otherwise a line per cell.
class Progress {
 public:
  explicit Progress(size_t cell_count)
      : bar_(stderr, "measuring", "runs"),
        is_terminal_(isatty(STDERR_FILENO) == 1),
        cell_count_(cell_count) {
    if (is_terminal_) bar_.Update(0, static_cast<int64_t>(cell_count_));
  }

  void Finish(const std::string& cell, const std::string& result) {
    ++done_;
    if (is_terminal_) {
      bar_.Update(static_cast<int64_t>(done_),
                  static_cast<int64_t>(cell_count_));
    } else {
      std::cerr << "run " << done_ << " of " << cell_count_ << ": " << cell
                << ": " << result << "\n";
    }
  }

 private:
  ProgressBar bar_;
  const bool is_terminal_;
  const size_t cell_count_;
  size_t done_ = 0;
};

std::string LastLine(const std::string& output) {
  const std::string text(absl::StripAsciiWhitespace(output));
  return text.substr(text.rfind('\n') + 1);
}

std::string DescribeFailure(const MeasuredCell& cell) {
  const ProducerFailure& failure = cell.profile.failure();
  std::string text;
  if (failure.kind() == ProducerFailure::SIGNALLED) {
    text = absl::StrCat("ended by signal ", failure.signal_number(),
                        failure.signal_number() == SIGKILL
                            ? " (killed, often because memory ran out)"
                            : "");
  } else if (failure.kind() == ProducerFailure::EXITED) {
    text = absl::StrCat("exit status ", failure.exit_status());
  } else {
    text = failure.detail();
  }
  const std::string line = LastLine(cell.output);
  return line.empty() ? text : absl::StrCat(text, ": ", line);
}

// Returns the bytes that a cell will have resident, by the law of the cells
// that ran. Returns nothing if too few did.
absl::optional<int64_t> Expected(const ScaledRuns& done,
                                 const ScaledRun& next) {
  ScaledRuns all = done;
  all.runs.push_back(next);
  const std::vector<size_t> numeric = NumericVariables(all);
  if (numeric.size() < done.variables.size()) return absl::nullopt;
  std::vector<ScalingPoint> points;
  for (const ScaledRun& run : done.runs) {
    if (!run.failure.empty() || !run.resident_bytes.has_value()) continue;
    points.push_back(
        {FindNumbers(run, numeric), static_cast<double>(*run.resident_bytes)});
  }
  const absl::optional<ScalingLaw> law = FitScalingLaw(points);
  if (!law.has_value()) return absl::nullopt;
  return static_cast<int64_t>(
      std::min(law->At(FindNumbers(next, numeric)), 9e18));
}

// Returns why a cell must not run, or "" if it may.
std::string TooLarge(const ScaledRuns& done, const ScaledRun& next) {
  const absl::optional<int64_t> expected = Expected(done, next);
  const absl::StatusOr<AvailableMemory> available = ReadAvailableMemory();
  if (!expected.has_value() || !available.ok() ||
      *expected <= available->bytes) {
    return "";
  }
  return absl::StrCat("left out: by the runs before it would need about ",
                      FormatRoundedBytes(*expected), ", and ",
                      available->limited_by, " has ",
                      FormatRoundedBytes(available->bytes),
                      " left; --beyond_memory runs it all the same");
}

// Sorts small cells first, so that their law predicts the large ones.
std::vector<GridCell> CellsBySize(const Grid& grid) {
  std::vector<GridCell> cells = ListCells(grid);
  ScaledRuns runs;
  for (const GridVariable& variable : grid.variables) {
    runs.variables.push_back(variable.name);
  }
  for (const GridCell& cell : cells) {
    runs.runs.emplace_back();
    runs.runs.back().values = cell;
  }
  const std::vector<size_t> numeric = NumericVariables(runs);
  const auto size = [&numeric](const GridCell& cell) {
    ScaledRun run;
    run.values = cell;
    double product = 1;
    for (double number : FindNumbers(run, numeric)) product *= number;
    return product;
  };
  std::stable_sort(cells.begin(), cells.end(),
                   [&size](const GridCell& a, const GridCell& b) {
                     return size(a) < size(b);
                   });
  return cells;
}

// Adds the benchmark of a cell, with the grid's variables as its arguments.
void AddBenchmark(const MemoryProfile& cell, const Grid& grid,
                  const ScaledRun& run, MemoryProfile* all) {
  *all->mutable_environment() = cell.environment();
  BenchmarkMemory* const memory = all->add_benchmarks();
  *memory = cell.benchmarks(0);
  memory->set_name(run.program);
  memory->clear_arguments();
  for (size_t i = 0; i < run.values.size(); ++i) {
    Argument* const argument = memory->add_arguments();
    argument->set_name(grid.variables[i].name);
    argument->set_value(run.values[i]);
    memory->set_name(absl::StrCat(memory->name(), "/", argument->name(), ":",
                                  argument->value()));
  }
}

absl::Status RunCells(const ScalingOptions& options, const Grid& grid,
                      ScaledRuns* runs, MemoryProfile* profile) {
  absl::StatusOr<CommandTemplate> command =
      CommandTemplate::Parse(options.program, grid);
  if (!command.ok()) return command.status();
  std::string name = options.name;
  const std::vector<GridCell> cells = CellsBySize(grid);
  Progress progress(cells.size());
  for (const GridCell& values : cells) {
    ScaledRun run;
    run.values = values;
    if (!options.beyond_memory) run.failure = TooLarge(*runs, run);
    if (run.failure.empty()) {
      const absl::StatusOr<MeasuredCell> cell =
          MeasureCell(command->For(values));
      if (!cell.ok()) return cell.status();
      if (cell->was_interrupted) return absl::CancelledError("interrupted");
      if (cell->profile.has_failure()) {
        run.failure = DescribeFailure(*cell);
      } else {
        run = MakeScaledRun(cell->profile.benchmarks(0));
        run.values = values;
        if (name.empty()) name = run.program;
        run.program = name;
        AddBenchmark(cell->profile, grid, run, profile);
      }
    }
    if (run.program.empty()) run.program = name.empty() ? "program" : name;
    progress.Finish(CellText(grid, values),
                    run.failure.empty() ? FormatRoundedBytes(*run.peak_bytes)
                                        : run.failure);
    runs->runs.push_back(std::move(run));
  }
  profile->set_label(absl::StrCat("//:", name.empty() ? "program" : name));
  return absl::OkStatus();
}

absl::Status AddOthers(const ScalingOptions& options, ScaledRuns* runs) {
  for (const std::string& with : options.with) {
    const size_t colon = with.find(':');
    const bool is_named = colon != std::string::npos;
    absl::StatusOr<MemoryProfile> profile =
        ReadMemoryProfileFile(is_named ? with.substr(colon + 1) : with);
    if (!profile.ok()) return profile.status();
    absl::Status status =
        AddProfile(*profile, is_named ? with.substr(0, colon) : "", runs);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckOutputs(const ScalingOptions& options) {
  for (const std::string& path :
       {options.html_path, options.json_path, options.proto_path}) {
    if (path.empty()) continue;
    absl::Status status = CheckOutputFile(path);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status WriteOutputs(const ScalingOptions& options, const ScaledRuns& runs,
                          const MemoryProfile& profile) {
  absl::Status status;
  if (!options.html_path.empty()) {
    status.Update(WriteOutputFile(options.html_path, ScalingPage(runs)));
  }
  if (!options.json_path.empty()) {
    status.Update(WriteOutputFile(options.json_path, ScalingJson(runs)));
  }
  if (!options.proto_path.empty() && profile.benchmarks_size() > 0) {
    status.Update(WriteMemoryProfileFile(profile, options.proto_path));
  }
  return status;
}

absl::StatusOr<int> Run(int argc, char** argv) {
  EnterCallersFolder();
  absl::StatusOr<ScalingOptions> options = ParseOptions(argc, argv);
  if (!options.ok()) return options.status();
  if (options->help) {
    std::cout << kHelp;
    return FinishStandardOutput("scaling");
  }
  ScaledRuns runs;
  runs.variables = options->variables;
  MemoryProfile profile;
  absl::Status status = CheckOutputs(*options);
  if (!status.ok()) return status;
  if (!options->program.empty()) {
    absl::StatusOr<Grid> grid = ParseGrid(options->grid);
    if (!grid.ok()) return grid.status();
    for (const GridVariable& variable : grid->variables) {
      runs.variables.push_back(variable.name);
    }
    // Reads the other files before any run, since a missing file should be
    // noticed at once.
    ScaledRuns others = runs;
    status = AddOthers(*options, &others);
    if (!status.ok()) return status;
    status = RunCells(*options, *grid, &runs, &profile);
    if (!status.ok()) return status;
  }
  status = AddOthers(*options, &runs);
  if (!status.ok()) return status;
  std::cout << ScalingText(runs);
  status = WriteOutputs(*options, runs, profile);
  if (!status.ok()) return status;
  const bool has_failed =
      std::any_of(runs.runs.begin(), runs.runs.end(),
                  [](const ScaledRun& run) { return !run.failure.empty(); });
  return FinishStandardOutput("scaling", has_failed ? 1 : 0);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const absl::StatusOr<int> exit_code = footprint::Run(argc, argv);
  if (exit_code.ok()) return *exit_code;
  std::cerr << "scaling: " << std::string(exit_code.status().message()) << "\n";
  return exit_code.status().code() == absl::StatusCode::kCancelled ? 130 : 2;
}
