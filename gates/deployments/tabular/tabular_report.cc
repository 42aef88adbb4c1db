// Turns profiles of the experiment into its report: a text table and a page.
// See --help.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/gates/deployments/tabular/stage_report.h"
#include "footprint/profiling/schema/memory_profile_file.h"

ABSL_FLAG(std::string, html_output, "", "file to write the page to");
ABSL_FLAG(std::string, text_output, "",
          "file to write the tables to; empty: standard output");

namespace footprint {
namespace tabular {
namespace {

// Writes a file; a terminal or a pipe is written directly.
absl::Status Write(const std::string& path, absl::string_view text) {
  AtomicFileOptions options;
  options.to_disk = ToDisk::kNoFsync;
  options.special_files = SpecialFiles::kWriteAsTheyAre;
  options.when_locked = WhenLocked::kWait;
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
  if (!file.ok()) return file.status();
  const absl::Status status = file->Append(text);
  return status.ok() ? file->Commit() : status;
}

absl::Status Report(const std::vector<char*>& paths) {
  if (paths.size() < 2) {
    return absl::InvalidArgumentError("name at least one profile");
  }
  std::vector<MemoryProfile> profiles;
  for (size_t i = 1; i < paths.size(); ++i) {
    absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(paths[i]);
    if (!profile.ok()) return profile.status();
    profiles.push_back(*std::move(profile));
  }
  const absl::StatusOr<std::vector<StageRun>> runs = CollectRuns(profiles);
  if (!runs.ok()) return runs.status();
  const std::string text_path = absl::GetFlag(FLAGS_text_output);
  if (text_path.empty()) {
    std::fputs(StageText(*runs).c_str(), stdout);
  } else {
    absl::Status status = Write(text_path, StageText(*runs));
    if (!status.ok()) return status;
  }
  const std::string html_path = absl::GetFlag(FLAGS_html_output);
  if (html_path.empty()) return absl::OkStatus();
  return Write(html_path, StageHtml(*runs));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "reports the memory of the tabular experiment stage by stage.\n"
      "  tabular_report --html_output=report.html PROFILE.binpb ...");
  const absl::Status status = footprint::tabular::Report(
      footprint::ParseProgramFlags(argc, argv, /*wrong_flag_exit_code=*/1));
  if (status.ok()) return footprint::FinishStandardOutput("tabular_report");
  std::fprintf(stderr, "tabular_report: %s\n",
               std::string(status.message()).c_str());
  return 1;
}
