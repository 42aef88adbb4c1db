// Shows how two sets of memory profiles differ. memory_gate_suite runs it; its
// profiles are the new ones unless others are named.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/diff_report.h"
#include "footprint/gates/explaining/profile_diff.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_profiles.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Shows how memory profiles differ: by deployment, benchmark, phase, and the code
that held the bytes at the peak. The largest growth comes first.

  bazel run //gates:diff -- --save=/tmp/before  keeps what is measured now
  (edit the code)
  bazel run //gates:diff -- /tmp/before         against what is measured now
  bazel run //gates:diff -- OLD NEW             two profiles, or folders of them

OLD and NEW are files (x.profile.binpb) or folders, below which each *.binpb
except *.samples.binpb is read. Without NEW, the profiles of this suite are the
new ones; Bazel measures again what changed before this program starts.

Flags
  --only=GLOB         compare only deployments whose label this matches; '*'
                      matches any characters
  --save=FOLDER       only copy the profiles of this suite to a new folder
  --format=FORMAT     text (the default), json, markdown or html
  --output=FILE       the file to write (default: standard output)
  --help              print this text

Exit status: 0 nothing differs; 1 something differs; 2 a mistake, which the
message names.
)";

constexpr char kProgram[] = "diff";
constexpr int kSame = 0;
constexpr int kDiffers = 1;

absl::StatusOr<ProfileDiff> Compare(const CommandFlags& flags) {
  const std::vector<std::string>& paths = flags.words();
  absl::StatusOr<std::vector<MemoryProfile>> before =
      ReadProfiles(PathOfCaller(paths[0]));
  if (!before.ok()) return before.status();
  absl::StatusOr<std::vector<MemoryProfile>> after =
      paths.size() > 1 ? ReadProfiles(PathOfCaller(paths[1]))
                       : ReadSuiteProfiles(flags);
  if (!after.ok()) return after.status();
  const absl::Status kept =
      KeepOnly(flags.Value("only", "*"), &*before, &*after);
  if (!kept.ok()) return kept;
  return DiffProfiles(*before, *after);
}

int Save(const CommandFlags& flags) {
  const absl::StatusOr<std::vector<MemoryProfile>> profiles =
      ReadSuiteProfiles(flags);
  if (!profiles.ok()) return Complain(kProgram, profiles.status().message());
  const std::string folder = PathOfCaller(flags.Value("save", ""));
  if (folder.empty()) return Complain(kProgram, "--save= names no folder");
  const absl::Status saved = SaveProfiles(*profiles, folder);
  if (!saved.ok()) return Complain(kProgram, saved.message());
  return FinishProgram(
      kProgram,
      absl::StrCat(profiles->size(), " profiles saved to ", folder, "\n"), "",
      kSame);
}

int Main(const std::vector<std::string>& arguments) {
  constexpr int kMostPaths = 2;
  const absl::StatusOr<CommandFlags> flags =
      ParseSuiteFlags(arguments, {"only", "save", "format"}, {}, kMostPaths);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", kSame);
  if (flags->Has("save")) return Save(*flags);
  const std::string format = flags->Value("format", "text");
  const absl::Status known = CheckReportWriter(format);
  if (!known.ok()) return Complain(kProgram, known.message());
  if (flags->words().empty()) {
    return Complain(kProgram,
                    "name the old profiles, a file or a folder; see --help");
  }
  const absl::StatusOr<ProfileDiff> diff = Compare(*flags);
  if (!diff.ok()) return Complain(kProgram, diff.status().message());
  const std::string output = flags->Value("output", "");
  return FinishProgram(
      kProgram,
      WriteReportAs(format, MakeDiffReport(*diff), OptionsFor(output)), output,
      diff->deployments.empty() ? kSame : kDiffers);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
