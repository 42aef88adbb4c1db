#include "footprint/profiling/memprof/memprof_options.h"

#include <sys/stat.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {

const char kMemprofHelp[] =
    R"(memprof measures the memory of any program, unchanged.

  memprof [OPTIONS] PROGRAM ARGUMENT...

  memprof python3 train.py            prints a report after the program's output
  memprof --limit=64MiB ./serve       exits with 0 if the peak fits, 1 if not
  memprof --sampling=0 ./serve        records the call site of each allocation
  memprof --record=old.run ./serve    keeps the run in a file
  memprof --compare=old.run new.run   shows how the peak changed, and where

Options, before PROGRAM:
  --limit=BYTES   judge the peak heap of each process by this limit, such as
                  64MiB, 1.5GB or a number of bytes. If the heap leaves out more
                  than half of a process's memory and more than 16 MB, its
                  resident set is judged instead. The exit status is 0 if every
                  process fits, 1 if one does not, and 3 if the program failed
                  or has memory that is not counted
  --container     run the program once more, without output, in a control group
                  with the container limit that the report recommends, and say
                  whether it held; needs root or a delegated group
  --sampling=BYTES
                  record the call site of one allocation for every so many
                  bytes, on average (default: 512KiB). 0 records each
                  allocation; none measures only the peak
  --cpu[=RATE]    also show where processor time goes, from this many samples
                  per second of each thread's processor time (default: 100)
  --cpu_only[=RATE]
                  do the same, and measure only the peak of memory
  --copies[=BYTES]
                  also show which code copies: record one call of memcpy and
                  related functions for every so many bytes, on average
                  (default: 4MiB); 0 records each call
  --children=no   measure only the program's own process; its child processes
                  run as they would without memprof
  --stages=named  show only stages that the program names (footprint_stage.h,
                  footprint.py). Without this, each outermost import of Python
                  and each data or model file, from open to close, is also a
                  stage

Files to write, besides the report:
  --record=FILE   everything that was measured, for --from and --compare
  --json=FILE     the report as JSON, for other programs
  --pprof=FILE    call stacks for pprof and flame-graph viewers, for example
                  go tool pprof -sample_index=peak_space -http=: FILE
  --speedscope=FILE
                  call stacks for www.speedscope.app
  --csv=FILE      lines of code and their bytes, for a spreadsheet
  --html=FILE     a page with figures, timeline and flame graph, which needs no
                  network
  --markdown=FILE the tables, for a comment on a change or a job's summary
  --proto=FILE    a MemoryProfile, which gates judge and print_profile shows

How much the report says:
  --memory_threshold=1% | 64KiB
                  sum up call sites that hold less than this at the peak
  --cpu_threshold=1%
                  sum up call sites that take less processor time than this
  --left=FROM[,UNTIL]
                  show memory that was allocated in the stage FROM, and in
                  those that first began after it and before UNTIL, and that is
                  still allocated at the end. Outside of stages, it is unknown
                  when a block was allocated, so such blocks do not count.
                  Without this, show what each stage left that the program names
  --live          also show the memory while the program runs: on a terminal,
                  about once a second, the figures, the timeline and the lines
                  that hold the most
  --quiet         show no report if the program ends by itself; still show it if
                  a signal or _exit ended the program
  --reduced       apply the thresholds to the files, too; a threshold that is
                  not given is 1 %

A record can be read on any machine, with all options for output:
  memprof --from=FILE [--limit=BYTES] [--json=FILE] [--html=FILE] ...
  memprof [--html=FILE] [--markdown=FILE] --compare=BEFORE AFTER
--from can also read the record of a program that still runs. Each process has a
file PID.IMAGE.record in the folder that its FOOTPRINT_MEMPROF_FOLDER names.

The program keeps its input, output and exit status. The report goes to standard
error after the program has ended; without --live, nothing is written earlier.
Without --limit, memprof exits as the program did: with 128 + n after signal n,
and by SIGINT if that ended the program. Exit status 2 means that memprof could
not run it.

The peak is exact: the highest sum of live heap bytes, checked at each
allocation. memprof passes each call on to the program's own allocator, and a
block counts with the size that this allocator gives it. Processes that the
program starts by fork, exec, vfork or posix_spawn are measured, too. A process
that gets an environment without LD_PRELOAD (env -i) is not measured; the report
names it if it ran for some 10 ms or had much memory.
memprof cannot measure static programs, set-user-ID programs and sanitizer
builds. It cannot attach to a running process (--pid), whose earlier allocations
would be unknown.
)";

namespace {

struct Option {
  const char* name;  // with its dashes; a value follows "="
  std::function<absl::Status(absl::string_view value)> set;
  bool is_of_measuring = false;  // has no effect if nothing runs
};

Option PathOption(const char* name, std::string* path) {
  return {name, [name, path](absl::string_view value) {
            *path = std::string(value);
            // Standard input and output are the program's own.
            return value.empty() || value == "-"
                       ? absl::InvalidArgumentError(absl::StrCat(
                             name, " names no file; write ", name, "=FILE"))
                       : absl::OkStatus();
          }};
}

Option ThresholdOption(
    const char* name,
    absl::StatusOr<ReportThreshold> (*parse)(absl::string_view),
    ReportThreshold* threshold) {
  return {name, [name, parse, threshold](absl::string_view value) {
            const absl::StatusOr<ReportThreshold> parsed = parse(value);
            if (parsed.ok()) {
              *threshold = *parsed;
              return absl::OkStatus();
            }
            return absl::InvalidArgumentError(
                absl::StrCat(name, ": ", parsed.status().message()));
          }};
}

absl::Status SetBytes(const char* name, absl::string_view value,
                      int64_t* bytes) {
  const absl::StatusOr<int64_t> parsed = ParseBytes(value);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", parsed.status().message()));
  }
  *bytes = *parsed;
  return absl::OkStatus();
}

absl::Status SetSampling(absl::string_view value, AgentRun* run) {
  if (value == "none") {
    run->sampling_interval_bytes = -1;
    return absl::OkStatus();
  }
  return SetBytes("--sampling", value, &run->sampling_interval_bytes);
}

absl::Status SetStages(absl::string_view value, AgentRun* run) {
  if (value != "named" && value != "all") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--stages=", value, ": write --stages=named or --stages=all"));
  }
  run->has_automatic_stages = value == "all";
  return absl::OkStatus();
}

// Sets the samples a second; an empty value means 100.
absl::Status SetProcessorRate(absl::string_view value, AgentRun* run) {
  double rate = 100;
  if (!value.empty() &&
      (!absl::SimpleAtod(value, &rate) || !(rate >= 0.1 && rate <= 1e4))) {
    return absl::InvalidArgumentError(absl::StrCat(
        value,
        " is not a number of samples a second from 0.1 to 10000; write "
        "--cpu or, for example, --cpu=250"));
  }
  run->processor_interval_ns = static_cast<int64_t>(1e9 / rate);
  return absl::OkStatus();
}

// Sets the samples a second of processor time, and takes no samples of memory,
// so that only its peak is measured.
absl::Status SetProcessorRateOnly(absl::string_view value, AgentRun* run) {
  run->sampling_interval_bytes = -1;
  return SetProcessorRate(value, run);
}

absl::Status SetCopyInterval(absl::string_view value, AgentRun* run) {
  if (value.empty()) {
    run->copy_interval_bytes = int64_t{4} << 20;
    return absl::OkStatus();
  }
  return SetBytes("--copies", value, &run->copy_interval_bytes);
}

absl::Status SetReduced(absl::string_view value, MemprofOptions* options) {
  options->is_reduced = true;
  return value.empty() ? absl::OkStatus()
                       : absl::InvalidArgumentError(
                             "--reduced has no value; thresholds have");
}

absl::Status SetChildren(absl::string_view value, AgentRun* run) {
  run->children_are_recorded = value == "yes";
  return value == "yes" || value == "no"
             ? absl::OkStatus()
             : absl::InvalidArgumentError("--children is =yes or =no");
}

absl::Status SetLimit(absl::string_view value, MemprofOptions* options) {
  int64_t bytes = 0;
  absl::Status status = SetBytes("--limit", value, &bytes);
  if (status.ok()) options->limit_bytes = bytes;
  return status;
}

absl::Status SetQuiet(absl::string_view value, MemprofOptions* options) {
  options->is_quiet = true;
  return value.empty() ? absl::OkStatus()
                       : absl::InvalidArgumentError("--quiet has no value");
}

absl::Status SetLive(absl::string_view value, MemprofOptions* options) {
  options->is_live = true;
  return value.empty() ? absl::OkStatus()
                       : absl::InvalidArgumentError("--live has no value");
}

absl::Status SetContainer(absl::string_view value, MemprofOptions* options) {
  options->tries_container = true;
  return value.empty() ? absl::OkStatus()
                       : absl::InvalidArgumentError(
                             "--container has no value: it tries the limit "
                             "that the report recommends");
}

absl::Status SetLeft(absl::string_view value, MemprofOptions* options) {
  const size_t comma = value.find(',');
  options->left_from = std::string(value.substr(0, comma));
  if (comma != absl::string_view::npos) {
    options->left_until = std::string(value.substr(comma + 1));
  }
  return options->left_from.empty()
             ? absl::InvalidArgumentError(
                   "--left names no stage; write --left=FROM or "
                   "--left=FROM,UNTIL")
             : absl::OkStatus();
}

absl::Status RefuseProcess(absl::string_view) {
  return absl::InvalidArgumentError(
      "--pid is not possible: what a running process allocated before is "
      "unknown; start the program with memprof");
}

// Returns the options, which store their values in `*options`.
std::vector<Option> OptionsInto(MemprofOptions* options) {
  AgentRun* const run = &options->run;
  const auto of_run = [run](absl::Status (*set)(absl::string_view, AgentRun*)) {
    return [set, run](absl::string_view value) { return set(value, run); };
  };
  const auto of_all = [options](absl::Status (*set)(absl::string_view,
                                                    MemprofOptions*)) {
    return
        [set, options](absl::string_view value) { return set(value, options); };
  };
  return {
      PathOption("--record", &options->record_path),
      PathOption("--json", &options->json_path),
      PathOption("--proto", &options->proto_path),
      PathOption("--pprof", &options->pprof_path),
      PathOption("--speedscope", &options->speedscope_path),
      PathOption("--csv", &options->csv_path),
      PathOption("--html", &options->page_path),
      PathOption("--markdown", &options->markdown_path),
      PathOption("--from", &options->from_path),
      PathOption("--compare", &options->compare_before_path),
      ThresholdOption("--memory_threshold", ParseMemoryThreshold,
                      &options->memory_threshold),
      ThresholdOption("--cpu_threshold", ParseShareThreshold,
                      &options->cpu_threshold),
      {"--sampling", of_run(SetSampling), true},
      {"--reduced", of_all(SetReduced)},
      {"--children", of_run(SetChildren), true},
      {"--stages", of_run(SetStages), true},
      {"--cpu", of_run(SetProcessorRate), true},
      {"--cpu_only", of_run(SetProcessorRateOnly), true},
      {"--copies", of_run(SetCopyInterval), true},
      {"--limit", of_all(SetLimit)},
      {"--left", of_all(SetLeft)},
      {"--live", of_all(SetLive)},
      {"--quiet", of_all(SetQuiet)},
      {"--container", of_all(SetContainer)},
      {"--pid", RefuseProcess},
  };
}

// Sets `*measuring` to the option's name if it is of measuring.
absl::Status SetOption(absl::string_view word, const std::vector<Option>& known,
                       std::string* measuring) {
  const size_t equals = word.find('=');
  const absl::string_view name = word.substr(0, equals);
  std::vector<std::string> names = {"--help"};
  for (const Option& option : known) {
    if (name == option.name) {
      if (option.is_of_measuring) *measuring = option.name;
      return option.set(equals == absl::string_view::npos
                            ? absl::string_view()
                            : word.substr(equals + 1));
    }
    names.emplace_back(option.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown option ", word, DidYouMean(name, names),
                   "; memprof --help lists them"));
}

void SetDefaultThresholds(MemprofOptions* options) {
  constexpr double kPercent = 1;
  for (ReportThreshold* threshold :
       {&options->memory_threshold, &options->cpu_threshold}) {
    if (threshold->percent == 0 && threshold->amount == 0) {
      threshold->percent = kPercent;
    }
  }
}

// Returns the files to write that were named, each with its option.
std::vector<std::pair<std::string, std::string>> ListOutputs(
    const MemprofOptions& options) {
  const std::pair<const char*, const std::string*> outputs[] = {
      {"--record", &options.record_path},
      {"--json", &options.json_path},
      {"--proto", &options.proto_path},
      {"--pprof", &options.pprof_path},
      {"--speedscope", &options.speedscope_path},
      {"--csv", &options.csv_path},
      {"--html", &options.page_path},
      {"--markdown", &options.markdown_path}};
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& [name, path] : outputs) {
    if (!path->empty()) named.emplace_back(name, *path);
  }
  return named;
}

// Refuses the options for the output of one run, which --compare would ignore.
absl::Status CheckComparison(const MemprofOptions& options) {
  std::vector<std::string> ignored;
  if (options.limit_bytes.has_value()) ignored.push_back("--limit");
  if (options.tries_container) ignored.push_back("--container");
  if (!options.left_from.empty()) ignored.push_back("--left");
  for (const auto& [name, path] : ListOutputs(options)) {
    if (name != "--html" && name != "--markdown") ignored.push_back(name);
  }
  if (ignored.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(ignored.front(),
                   " is of one run, and --compare shows how two differ: "
                   "give it with --from=FILE"));
}

// Reads the words after the options: the program with its arguments, or the
// second record of --compare.
absl::Status SetWords(const std::vector<std::string>& words,
                      MemprofOptions* options) {
  // --compare takes one word, the second record.
  if (!options->compare_before_path.empty()) {
    if (options->is_live || options->is_quiet) {
      return absl::InvalidArgumentError(absl::StrCat(
          options->is_live ? "--live shows a program that runs"
                           : "--quiet leaves out a program's report",
          ", and --compare runs nothing: leave one of the two out"));
    }
    const absl::Status status = CheckComparison(*options);
    if (!status.ok()) return status;
    if (words.empty()) {
      return absl::InvalidArgumentError(
          "--compare names one run; name the other after the options, for "
          "example: memprof --compare=before.run after.run");
    }
    if (words.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--compare compares two runs: ", EscapeForTerminal(words[1]),
          " is one word too many; options stand before the second run"));
    }
    options->compare_after_path = words[0];
    return absl::OkStatus();
  }
  // --from takes no word.
  if (!options->from_path.empty()) {
    if (options->is_live) {
      return absl::InvalidArgumentError(
          "--live shows a program that runs, and --from runs nothing");
    }
    if (options->tries_container) {
      return absl::InvalidArgumentError(
          "--container runs the program, and --from runs nothing: measure the "
          "program with --container");
    }
    return words.empty()
               ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat(
                     "--from reads a record and runs nothing: ", words[0],
                     " is one word too many"));
  }
  // Otherwise the words are the program and its arguments.
  if (words.empty()) {
    return absl::InvalidArgumentError(
        "which program? For example: memprof python3 train.py");
  }
  options->run.arguments = words;
  return absl::OkStatus();
}

// Refuses an option that says how to measure if a record is read instead.
absl::Status CheckMeasuring(const std::string& measuring,
                            const MemprofOptions& options) {
  const bool is_from = !options.from_path.empty();
  if (measuring.empty() || (!is_from && options.compare_before_path.empty())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(measuring, " says how to measure a program, and ",
                   is_from ? "--from" : "--compare",
                   " reads what was measured: leave ", measuring, " out"));
}

// Returns whether a path names something else than a file, such as a terminal
// or /dev/null, into which several reports may be written.
bool IsNoFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

// Refuses an output that would replace another one, or a record that is read.
absl::Status CheckOutputs(const MemprofOptions& options) {
  std::vector<std::pair<std::string, std::string>> used;
  for (const std::string* input :
       {&options.from_path, &options.compare_before_path,
        &options.compare_after_path}) {
    if (!input->empty()) used.emplace_back("the record to read", *input);
  }
  for (const auto& [name, path] : ListOutputs(options)) {
    if (IsNoFile(path)) continue;
    for (const auto& [user, used_path] : used) {
      if (!IsSameFile(path, used_path)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(name, "=", EscapeForTerminal(path), " would replace ",
                       user, "; name another file"));
    }
    used.emplace_back(absl::StrCat("the file of ", name), path);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MemprofOptions> ParseMemprofOptions(int argc,
                                                   const char* const* argv) {
  MemprofOptions options;
  const std::vector<Option> known = OptionsInto(&options);
  std::string measuring;  // the last option of measuring
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
    absl::Status status = SetOption(word, known, &measuring);
    if (!status.ok()) return status;
  }
  if (options.is_reduced) SetDefaultThresholds(&options);
  absl::Status status =
      SetWords(std::vector<std::string>(argv + i, argv + argc), &options);
  if (status.ok()) status = CheckOutputs(options);
  if (status.ok()) status = CheckMeasuring(measuring, options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace footprint
