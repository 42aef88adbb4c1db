#include "footprint/gates/trials/trial_limits.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int kDefaultTimeLimitSeconds = 60;
constexpr int64_t kDefaultScratchBytes = 64 * kMiB;
constexpr int64_t kMeasuringLimitWithoutBudget = int64_t{4} << 30;
// No process fits in less.
constexpr int64_t kLeastLimitBytes = kMiB;

absl::Status UnknownDevice(const TrialRequest& request,
                           const std::string& device) {
  std::vector<std::string> known;
  for (const DeviceBudget& each : request.devices()) {
    known.push_back(each.device());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the manifest names the device '", EscapeForProto(device), "', and ",
      known.empty() ? "no fleet file is given here" : "the fleet here has ",
      absl::StrJoin(known, ", "), DidYouMean(device, known),
      "; correct it, give budget_bytes instead, or have the "
      "device added to the file of --fleet"));
}

// Returns the request's budget, else the manifest's: the smaller of its
// device's and its own if it has both.
absl::StatusOr<int64_t> FindBudget(const TrialRequest& request,
                                   const BundleManifest& manifest) {
  if (request.budget_bytes() > 0) return request.budget_bytes();
  if (manifest.device().empty()) return manifest.budget_bytes();
  for (const DeviceBudget& each : request.devices()) {
    if (each.device() != manifest.device()) continue;
    return manifest.budget_bytes() > 0
               ? std::min(manifest.budget_bytes(), each.budget_bytes())
               : each.budget_bytes();
  }
  return UnknownDevice(request, manifest.device());
}

// Returns the budget within the submitter's limit. An operator's budget is
// lowered to it; a bundle that asks for more is refused.
absl::StatusOr<int64_t> LimitBudget(const TrialRequest& request,
                                    int64_t budget_bytes) {
  const int64_t most_bytes = request.most_budget_bytes();
  if (most_bytes == 0) return budget_bytes;
  if (budget_bytes == 0) return most_bytes;
  if (budget_bytes <= most_bytes || request.budget_bytes() > 0) {
    return std::min(budget_bytes, most_bytes);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the manifest asks for a budget of ", FormatBytes(budget_bytes),
      ", and the submitter's token allows at most ", FormatBytes(most_bytes),
      "; lower budget_bytes, or ask the server's operator for a token with a "
      "larger --most_budget"));
}

int64_t ComputeMeasuringLimit(const TrialRequest& request, int64_t budget_bytes,
                              int64_t room_bytes) {
  int64_t limit_bytes = request.measuring_limit_bytes();
  if (limit_bytes <= 0) {
    // The room limits the budget here, so that the product does not overflow.
    limit_bytes = budget_bytes > 0
                      ? 2 * std::min(budget_bytes, room_bytes) + 64 * kMiB
                      : kMeasuringLimitWithoutBudget;
  }
  return std::min(limit_bytes, room_bytes);
}

int ComputeTimeLimit(const TrialRequest& request,
                     const BundleManifest& manifest) {
  int asked = request.time_limit_seconds() > 0 ? request.time_limit_seconds()
                                               : kDefaultTimeLimitSeconds;
  if (request.most_time_limit_seconds() > 0) {
    asked = std::min(asked, request.most_time_limit_seconds());
  }
  return manifest.time_limit_seconds() > 0
             ? std::min(asked, manifest.time_limit_seconds())
             : asked;
}

// Sets the command of an image, whose programs may lie anywhere in it.
void SetImageCommand(const BundleManifest& manifest, SandboxRun* run) {
  const bool is_script = manifest.kind() == BundleManifest::PYTHON_SCRIPT;
  run->program = is_script ? "python3" : manifest.entry();
  run->arguments = {run->program};
  if (is_script) run->arguments.push_back(manifest.entry());
}

void SetCommand(const TrialRequest& request, const BundleManifest& manifest,
                SandboxRun* run) {
  switch (manifest.kind()) {
    case BundleManifest::PYTHON_SCRIPT:
      run->program = "/usr/bin/python3";
      run->arguments = {"python3", manifest.entry()};
      break;
    case BundleManifest::LOWMEM_CHECKPOINT: {
      const size_t slash = manifest.entry().rfind('/');
      run->program = "/runner";
      run->runner = request.lowmem_program();
      run->arguments = {"lowmem_run", slash == std::string::npos
                                          ? "."
                                          : manifest.entry().substr(0, slash)};
      break;
    }
    default:
      run->program = absl::StrCat("/bundle/", manifest.entry());
      run->arguments = {manifest.entry()};
  }
}

// Sets a variable, in place of an earlier value.
void SetVariable(const std::string& variable,
                 std::vector<std::string>* environment) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  for (std::string& each : *environment) {
    if (!absl::StartsWith(each, name)) continue;
    each = variable;
    return;
  }
  environment->push_back(variable);
}

}  // namespace

absl::StatusOr<TrialLimits> ComputeTrialLimits(const TrialRequest& request,
                                               const BundleManifest& manifest,
                                               int64_t room_bytes) {
  const absl::StatusOr<int64_t> wanted_bytes = FindBudget(request, manifest);
  if (!wanted_bytes.ok()) return wanted_bytes.status();
  const absl::StatusOr<int64_t> budget_bytes =
      LimitBudget(request, *wanted_bytes);
  if (!budget_bytes.ok()) return budget_bytes.status();
  TrialLimits limits;
  limits.budget_bytes = *budget_bytes;
  limits.measuring_limit_bytes =
      ComputeMeasuringLimit(request, *budget_bytes, room_bytes);
  limits.time_limit_seconds = ComputeTimeLimit(request, manifest);
  if (request.process_limit() > 0) {
    limits.process_limit = request.process_limit();
  }
  limits.room_bytes = room_bytes;
  return limits;
}

BundleLimits ReadBundleLimits(const TrialRequest& request) {
  BundleLimits limits;
  if (request.most_archive_bytes() > 0) {
    limits = LimitsOfArchive(request.most_archive_bytes());
  }
  if (request.most_unpacked_bytes() > 0) {
    limits.unpacked_bytes = request.most_unpacked_bytes();
  }
  return limits;
}

SandboxRun MakeSandboxRun(const TrialRequest& request,
                          const BundleOrImage& input, const TrialLimits& limits,
                          int64_t limit_bytes) {
  SandboxRun run;
  const BundleManifest& manifest = input.manifest;
  if (input.image_folder.empty()) {
    run.bundle_folder = input.bundle_folder;
    SetCommand(request, manifest, &run);
  } else {
    run.image_folder = input.image_folder;
    run.working_folder = input.working_folder;
    SetImageCommand(manifest, &run);
  }
  run.arguments.insert(run.arguments.end(), manifest.arguments().begin(),
                       manifest.arguments().end());
  run.environment = {"PATH=/usr/local/bin:/usr/bin:/bin",
                     "HOME=/tmp",
                     "TMPDIR=/tmp",
                     "LANG=C.UTF-8",
                     "TZ=UTC",
                     "PYTHONHASHSEED=0",
                     "PYTHONDONTWRITEBYTECODE=1",
                     "PYTHONNOUSERSITE=1"};
  for (const std::string& each : input.environment) {
    // The profiler's settings are not the image's to choose.
    if (absl::StartsWith(each, "FOOTPRINT_MEMPROF_")) continue;
    SetVariable(each, &run.environment);
  }
  run.limit_bytes =
      std::max(std::min(limit_bytes, limits.room_bytes), kLeastLimitBytes);
  run.scratch_bytes = request.scratch_bytes() > 0 ? request.scratch_bytes()
                                                  : kDefaultScratchBytes;
  run.process_limit = limits.process_limit;
  run.time_limit_seconds = limits.time_limit_seconds;
  run.cpu_weight = request.cpu_weight();
  return run;
}

}  // namespace footprint
