// Imports files of other tools as a memory profile, which limits can judge.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/importing/foreign_figures.h"
#include "footprint/gates/importing/foreign_file.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Imports files of other tools as a memory profile, which a gate can judge.

  bazel run //gates:import -- massif.out.123
  bazel run //gates:import -- --label=//app:server \
    --output=server.profile.binpb heap.0001.heap heap.0002.heap
  (as a build action: the rule imported_memory_profile of gates/defs.bzl)

It recognises these files by how they begin. Of several files, the highest
figure is taken.
  valgrind --tool=massif     requested bytes, the highest snapshot; of
                             --pages-as-heap=yes mapped pages
  heaptrack_print's text     requested bytes, rounded up from the summary's
  Google Benchmark's JSON    max_bytes_used, a benchmark each
  pprof (gzipped), heap profiles of gperftools and jemalloc
                             bytes in use when the file was written; sampled, if
                             the tool did; jemalloc's usable, others' requested

Flags
  --label=//PACKAGE:NAME   the label by which thresholds name the profile; needed
                           for --output
  --output=FILE            the profile to write; without it the figures are only
                           shown
  --benchmark=NAME         the benchmark's name, if the tool gives none (default:
                           "whole program")
  --help                   print this text

The profile says that it is imported and what was counted. Its figures are
STATISTICAL: limits and ratios can judge them, and exact values are refused.

Exit status: 0 the files were read and the profile is written; 2 a flag is wrong,
or a file is missing, cut short, damaged or of another format.
)";

constexpr char kProgram[] = "import";

absl::StatusOr<ForeignFigures> ReadFiles(
    const std::vector<std::string>& paths) {
  ForeignFigures all;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> bytes = ReadWholeFile(PathOfCaller(path));
    if (!bytes.ok()) return bytes.status();
    const absl::StatusOr<ForeignFigures> figures = ParseForeignFile(*bytes);
    absl::Status status =
        figures.ok() ? AddFigures(*figures, &all) : figures.status();
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(EscapeForTerminal(path),
                                                      ": ", status.message()));
    }
  }
  return all;
}

std::string FormatProfile(const MemoryProfile& profile) {
  std::string text =
      absl::StrCat(profile.imported().tool(), ": ", profile.remarks(0).text(),
                   "; for limits only\n");
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    const Metric& metric = benchmark.metrics(0);
    absl::StrAppend(&text, "  ", EscapeForTerminal(benchmark.name()), ": ",
                    ShortNameOfMetric(metric.kind()), " ",
                    FormatMetricValue(metric.kind(), metric.value()), "\n");
  }
  return text;
}

int Import(const CommandFlags& flags) {
  const std::string label = flags.Value("label", "");
  const std::string output = flags.Value("output", "");
  if (flags.words().empty()) {
    return Complain(kProgram, "names no file; see --help");
  }
  if (!output.empty() &&
      (!absl::StartsWith(label, "//") || !absl::StrContains(label, ":"))) {
    return Complain(kProgram,
                    "--output needs --label=//PACKAGE:NAME, by which "
                    "thresholds name the profile");
  }
  if (flags.Has("benchmark") && flags.Value("benchmark", "").empty()) {
    return Complain(kProgram,
                    "--benchmark= needs a name; without the flag it is \"whole "
                    "program\"");
  }
  for (const std::string& path : flags.words()) {
    if (!output.empty() &&
        IsSameFile(PathOfCaller(path), PathOfCaller(output))) {
      return Complain(kProgram, absl::StrCat("--output=", output,
                                             " would overwrite a file that is "
                                             "read; name another"));
    }
  }
  const absl::StatusOr<ForeignFigures> figures = ReadFiles(flags.words());
  if (!figures.ok()) return Complain(kProgram, figures.status().message());
  const MemoryProfile profile = ProfileOfFigures(
      *figures, label, flags.Value("benchmark", "whole program"));
  if (!output.empty()) {
    const absl::Status status =
        WriteMemoryProfileFile(profile, PathOfCaller(output));
    if (!status.ok()) return Complain(kProgram, status.message());
  }
  return FinishProgram(kProgram, FormatProfile(profile), "", 0);
}

int Main(const std::vector<std::string>& arguments) {
  constexpr size_t kMostFiles = 10000;
  const absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments, {"label", "output", "benchmark"}, {"help"}, kMostFiles);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", 0);
  return Import(*flags);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
