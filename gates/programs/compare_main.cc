// Judges a change by its base. memory_gate_suite or memory_gate runs it; their
// profiles are those of the change unless a folder is named.

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/explaining/comparison_report.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/programs/base_profiles.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/revision_flags.h"
#include "footprint/gates/programs/suite_profiles.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/gates/programs/verdict_files.h"
#include "footprint/gates/reports/report_formats.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Compares the memory of a change with that of its base, and judges the growth.

  bazel run //gates:compare -- --base=origin/main
                                    measures that revision, which Bazel builds in
                                    a separate git worktree
  bazel run //gates:compare -- --base=FOLDER --change=FOLDER
                                    compares two folders of profiles, such as CI
                                    keeps
  bazel run //gates:compare -- --base=origin/main --limit='1 %' --limit='//a/*=64 KiB'
                                    allows some growth
  bazel run //gates:compare -- --base=origin/main --format=markdown
                                    writes a comment for the change

Flags
  --base=REVISION|FOLDER   what to compare with: a folder (or file) of profiles,
                           as //gates:diff -- --save=FOLDER writes it, or a
                           revision of git that has this gate
  --change=FOLDER          the profiles to judge (default: those that Bazel
                           measures now)
  --limit=LIMIT            how much a figure may grow, such as 1 % or 64 KiB, or
                           GLOB=LIMIT for some labels. If several globs match,
                           the most particular one counts (default: no growth)
  --only=GLOB              compare only deployments whose label matches
  --renamed=OLD=NEW        the label OLD of the base is called NEW in the change
  --format=FORMAT          text, json, markdown, html, or a format of //gates:check
                           such as sarif, junit, github or gitlab (default: text)
  --output=FILE            the file to write (default: standard output)
  --write=FORMAT:FILE      also write this format to the file; may be repeated
  --worktree=FOLDER        the folder in which the revision is built; it is kept,
                           so that the next run builds less (default:
                           ~/.cache/footprint/base-...)
  --bazel=COMMAND          how to call Bazel, with its startup options (default:
                           bazel). The worktree lacks files that git ignores, so
                           name a file of flags that Bazel needs:
                           --bazel="bazel --bazelrc=$PWD/user.bazelrc"
  --help                   print this text

A limit holds for the figures of each whole benchmark: the peak of its heap, the
peak of what it maps, and the bytes that it leaves behind (net growth). Figures of
phases and source lines only explain a growth. A figure that varies from run to
run counts as grown only if it grew by more than 5 % and by more than 512 KiB.

Exit status: 0 every figure is within its limit, 1 a figure is not, 2 a mistake,
which the message names, such as a base that does not build or has no gate, 3 a
program of the change failed, 4 a figure is not known (of a child process, or of a
program of the base that failed), 5 base and change were measured in different
environments.
)";

constexpr char kProgram[] = "compare";

absl::StatusOr<std::vector<MemoryProfile>> ReadBase(const CommandFlags& flags) {
  const std::string base = flags.Value("base", "");
  if (base.empty()) {
    return absl::InvalidArgumentError(
        "name the base: --base=origin/main, or a folder of profiles; see "
        "--help");
  }
  const std::string path = PathOfCaller(base);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return ReadProfiles(path);
  BaseRevision revision;
  revision.revision = base;
  revision.workspace = EnvironmentValue("BUILD_WORKSPACE_DIRECTORY");
  if (revision.workspace.empty()) {
    return absl::NotFoundError(absl::StrCat(
        EscapeForTerminal(path),
        ": does not exist; to compare with a revision, start this program with "
        "bazel run, which tells it the workspace"));
  }
  revision.diff_target = GateTarget("diff");
  revision.bazel = flags.Value("bazel", revision.bazel);
  absl::StatusOr<std::string> worktree =
      FindWorktree(flags, revision.workspace);
  if (!worktree.ok()) return worktree.status();
  revision.worktree = *std::move(worktree);
  return MeasureBaseProfiles(revision);
}

absl::StatusOr<BaseComparisonOptions> ReadOptions(const CommandFlags& flags) {
  BaseComparisonOptions options;
  options.base_name = flags.Value("base", "");
  for (const std::string& text : flags.Values("limit")) {
    absl::StatusOr<GrowthLimit> limit = ParseGrowthLimit(text);
    if (!limit.ok()) return limit.status();
    options.limits.push_back(*std::move(limit));
  }
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> renamed =
      ReadRenamed(flags);
  if (!renamed.ok()) return renamed.status();
  options.renamed = *std::move(renamed);
  return options;
}

absl::StatusOr<BaseComparison> Compare(const CommandFlags& flags) {
  absl::StatusOr<BaseComparisonOptions> options = ReadOptions(flags);
  if (!options.ok()) return options.status();
  // The names are checked before anything is built, since they may be wrong.
  absl::StatusOr<std::vector<MemoryProfile>> change =
      flags.Has("change")
          ? ReadProfiles(PathOfCaller(flags.Value("change", "")))
          : ReadSuiteProfiles(flags);
  if (!change.ok()) return change.status();
  absl::StatusOr<std::vector<MemoryProfile>> base = ReadBase(flags);
  if (!base.ok()) return base.status();
  const absl::Status kept =
      KeepOnly(flags.Value("only", "*"), &*base, &*change);
  if (!kept.ok()) return kept;
  return CompareWithBase(*std::move(base), *std::move(change), *options);
}

// Returns an error if no format of a verdict has this name.
absl::Status CheckFormat(absl::string_view format) {
  return CheckReportWriter(format).ok() ? absl::OkStatus()
                                        : FindReportFormat(format).status();
}

std::string WriteAs(absl::string_view format, const BaseComparison& comparison,
                    const ReportOptions& options) {
  return CheckReportWriter(format).ok()
             ? WriteReportAs(format, MakeComparisonReport(comparison), options)
             : (*FindReportFormat(format))->write(comparison.verdict, options);
}

absl::Status WriteFiles(const std::vector<VerdictFile>& files,
                        const BaseComparison& comparison) {
  absl::Status status;
  for (const VerdictFile& file : files) {
    status.Update(
        WriteReport(PathOfCaller(file.path),
                    WriteAs(file.format, comparison, ReportOptions())));
  }
  return status;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags =
      ParseSuiteFlags(arguments,
                      {"base", "change", "limit", "only", "renamed", "format",
                       "write", "worktree", "bazel"},
                      {});
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help")) {
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", ACCEPT);
  }
  const std::string format = flags->Value("format", "text");
  absl::Status status = CheckFormat(format);
  const absl::StatusOr<std::vector<VerdictFile>> files =
      ParseVerdictFiles(flags->Values("write"), CheckFormat);
  if (status.ok()) status = files.status();
  if (!status.ok()) return Complain(kProgram, status.message());
  const absl::StatusOr<BaseComparison> comparison = Compare(*flags);
  if (!comparison.ok()) {
    return Complain(kProgram, comparison.status().message());
  }
  status = WriteFiles(*files, *comparison);
  if (!status.ok()) return Complain(kProgram, status.message());
  const std::string output = flags->Value("output", "");
  return FinishProgram(kProgram,
                       WriteAs(format, *comparison, OptionsFor(output)), output,
                       comparison->verdict.decision());
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
