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
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/explaining/comparison_report.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/programs/base_profiles.h"
#include "footprint/gates/programs/command_flags.h"
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
    R"(Judges a change by its base: what needs more memory, what is new or gone.

  bazel run //gates:compare -- --base=origin/main
                                    against that revision, which Bazel builds and
                                    measures in a git worktree of its own
  bazel run //gates:compare -- --base=FOLDER --change=FOLDER
                                    two folders of profiles, as CI keeps them
  bazel run //gates:compare -- --base=origin/main --limit='1 %' --limit='//a/*=64 KiB'
                                    what may grow, and by how much
  bazel run //gates:compare -- --base=origin/main --format=markdown
                                    for a comment on the change

Flags
  --base=REVISION|FOLDER   what to compare with: a folder (or file) of profiles,
                           as //gates:diff -- --save=FOLDER writes it, or a
                           revision of git that has this gate
  --change=FOLDER          what to judge; without it what is measured now
  --limit=LIMIT            how far a figure may grow: 1 %, 64 KiB; or, for some
                           labels, GLOB=LIMIT. The most particular glob holds.
                           Without --limit nothing may grow
  --only=GLOB              only deployments whose label this matches
  --renamed=OLD=NEW        a label of the base has another name in the change
  --format=FORMAT          text (the default), json, markdown, html, or a format of
                           //gates:check: sarif, junit, github, gitlab ...
  --output=FILE            where to write (standard output)
  --write=FORMAT:FILE      also write this format to the file; may be repeated
  --worktree=FOLDER        where the revision is built; it is kept, so that the
                           next run builds less
                           (~/.cache/footprint/base-...)
  --bazel=COMMAND          Bazel, with start-up flags (bazel). The worktree lacks
                           what git ignores: name a file of flags that it needs,
                           --bazel="bazel --bazelrc=$PWD/user.bazelrc"
  --help                   this text

Limits are for the peak of each whole benchmark: of its heap, of what it maps,
and for what it leaves behind (net growth). Phases and lines are reasons.
A figure that varies from run to run counts as grown only if it grew by more than
5 % and by more than 256 KiB.

Exit status: 0 nothing is over its limit, 1 something is, 2 a mistake that the
message names, such as a base that does not build or has no gate, 3 a program of
the change failed, 4 a figure is not known (a child process, a program of the
base that failed), 5 the two were measured in different environments.
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
        ": is not there; a revision needs bazel run, which knows the "
        "workspace"));
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

// Checks the name of a format of a verdict.
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
