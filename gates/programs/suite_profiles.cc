#include "footprint/gates/programs/suite_profiles.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {

absl::StatusOr<std::vector<MemoryProfile>> ReadSuiteProfiles(
    const CommandFlags& flags) {
  absl::StatusOr<GateInput> input = ReadSuite(flags);
  if (!input.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        input.status().message(), "; or name two sets of profiles"));
  }
  if (!input->problems.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(input->problems.front().location(), ": ",
                     input->problems.front().message()));
  }
  // Figures of whole processes vary from run to run.
  LeaveOutWholeProcesses(&input->profiles);
  return std::move(input->profiles);
}

absl::Status KeepOnly(const std::string& glob,
                      std::vector<MemoryProfile>* before,
                      std::vector<MemoryProfile>* after) {
  if (!IsGlob(glob)) {
    return absl::InvalidArgumentError(
        "--only= has a backslash before something else than a star or a "
        "backslash");
  }
  bool names_one = false;
  for (std::vector<MemoryProfile>* profiles : {before, after}) {
    std::vector<MemoryProfile> kept;
    for (MemoryProfile& profile : *profiles) {
      if (GlobMatches(glob, profile.label()))
        kept.push_back(std::move(profile));
    }
    names_one |= !kept.empty();
    *profiles = std::move(kept);
  }
  if (names_one) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no profile has a label that --only=", glob, " names"));
}

}  // namespace footprint
