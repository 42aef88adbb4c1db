#include "footprint/profiling/memprof/memprof_options.h"

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/parse_bytes.h"

namespace footprint {

const char kMemprofHelp[] =
    R"(memprof measures the memory of any program, unchanged.

  memprof [OPTIONS] PROGRAM ARGUMENT...

  memprof python3 train.py            what it needed, after its own output
  memprof --limit=64MiB ./serve       exit 0 if its peak fits, 1 if it does not

Options, before PROGRAM:
  --limit=BYTES   judge: 0 the peak heap of each process fits, 1 it does not,
                  3 the program failed, or has memory that is not counted.
                  64MiB, 1.5GB or plain bytes.
  --sampling=BYTES
                  how many bytes lie between two allocations whose call sites
                  are recorded, on average; 512KiB if not given; 0: each
                  allocation is; none: only the peak is measured
  --stages=named  only stages that the program names (footprint_stage.h,
                  footprint.py); else each outermost import of Python and each
                  data or model file, from open to close, is a stage, too
  --record=FILE   all that was measured, to be read again by --from
  --json=FILE     the same, for other programs to read
  --pprof=FILE    call stacks for pprof and flame-graph viewers (profile.proto)
  --help          this text

A record, read again on any machine:
  memprof --from=FILE [--json=FILE] [--pprof=FILE]

The program keeps its input, output and exit status; the report goes to
standard error. Without --limit, memprof exits as the program did (128 + n
after signal n). Exit 2: memprof could not run it.

The peak is exact: the highest sum of live heap bytes, by jemalloc's own
counters, looked at in each allocation. Children are measured, too: by fork,
exec, vfork and posix_spawn, unless they are given an environment without
LD_PRELOAD (env -i). Cannot be measured: static programs, set-user-ID
programs, sanitizer builds. To attach to a running process (--pid) is not
possible: what it allocated before would be unknown.
)";

namespace {

struct Option {
  const char* name;  // with its dashes; a value follows "="
  std::function<absl::Status(absl::string_view value)> set;
};

Option PathOption(const char* name, std::string* path) {
  return {name, [name, path](absl::string_view value) {
            *path = std::string(value);
            return value.empty()
                       ? absl::InvalidArgumentError(absl::StrCat(
                             name, " names no file; write ", name, "=FILE"))
                       : absl::OkStatus();
          }};
}

absl::Status SetSampling(absl::string_view value, AgentRun* run) {
  if (value == "none") {
    run->sampling_interval_bytes = -1;
    return absl::OkStatus();
  }
  const absl::StatusOr<int64_t> bytes = ParseBytes(value);
  if (bytes.ok()) run->sampling_interval_bytes = *bytes;
  return bytes.status();
}

absl::Status SetStages(absl::string_view value, AgentRun* run) {
  if (value != "named" && value != "all") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--stages=", value, ": write --stages=named or --stages=all"));
  }
  run->has_automatic_stages = value == "all";
  return absl::OkStatus();
}

std::vector<Option> OptionsInto(MemprofOptions* options) {
  return {
      PathOption("--record", &options->record_path),
      PathOption("--json", &options->json_path),
      PathOption("--pprof", &options->pprof_path),
      PathOption("--from", &options->from_path),
      PathOption("--compare", &options->compare_before_path),
      {"--sampling",
       [options](absl::string_view value) {
         return SetSampling(value, &options->run);
       }},
      {"--stages",
       [options](absl::string_view value) {
         return SetStages(value, &options->run);
       }},
      {"--limit",
       [options](absl::string_view value) {
         const absl::StatusOr<int64_t> bytes = ParseBytes(value);
         if (bytes.ok()) options->limit_bytes = *bytes;
         return bytes.status();
       }},
      {"--pid",
       [](absl::string_view) {
         return absl::InvalidArgumentError(
             "--pid is not possible: what a running process allocated before "
             "is unknown; start the program with memprof");
       }},
  };
}

absl::Status SetOption(absl::string_view word,
                       const std::vector<Option>& known) {
  const size_t equals = word.find('=');
  const absl::string_view name = word.substr(0, equals);
  std::vector<std::string> names = {"--help"};
  for (const Option& option : known) {
    if (name == option.name) {
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

// What is left once the options were read.
absl::Status SetWords(const std::vector<std::string>& words,
                      MemprofOptions* options) {
  if (!options->compare_before_path.empty()) {
    if (words.size() != 1) {
      return absl::InvalidArgumentError(
          "compare which runs? For example: memprof --compare=before.run "
          "after.run");
    }
    options->compare_after_path = words[0];
    return absl::OkStatus();
  }
  if (!options->from_path.empty()) {
    return words.empty()
               ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat(
                     "--from reads a record and runs nothing: ", words[0],
                     " is one word too many"));
  }
  if (words.empty()) {
    return absl::InvalidArgumentError(
        "which program? For example: memprof python3 train.py");
  }
  options->run.arguments = words;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MemprofOptions> ParseMemprofOptions(int argc,
                                                   const char* const* argv) {
  MemprofOptions options;
  const std::vector<Option> known = OptionsInto(&options);
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
    absl::Status status = SetOption(word, known);
    if (!status.ok()) return status;
  }
  absl::Status status =
      SetWords(std::vector<std::string>(argv + i, argv + argc), &options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace footprint
