// Updates the numbers of threshold files to the measured values. The rules of
// gates/defs.bzl run it and give it a manifest.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/updating/threshold_update.h"
#include "footprint/gates/updating/workspace_update.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Changes the numbers in threshold files to what was measured.

  bazel run //gates:update                      lowers exact values, and maxima of files
                                                that state a headroom
  bazel run //gates:update -- --dry_run         shows what would change
  bazel run //gates:update -- --allow_increase --reason="why" --only=//a:b
                                                also raises, and notes the reason
  bazel run //gates:update -- --add --only=//a:b
                                                adds benchmarks without a threshold
  bazel run //gates:update -- --environment=gates/thresholds/a.new.textproto
                                                keeps the values of this machine's
                                                environment in a file of their own

Flags
  --only=LABEL          change only thresholds of this label; '*' matches any
                        characters
  --benchmark=NAME      change only thresholds of this benchmark; '*' matches any
                        characters, and '\*' a star. A threshold that also names
                        other benchmarks is not loosened
  --allow_increase      let limits rise; needs --reason
  --reason=TEXT         the reason to note in the history of each changed number
  --expires=DAY         with --allow_increase: the last day of a temporary raise,
                        such as 2026-12-31; //gates:audit reports it afterwards
  --headroom=HOW        how far maxima stay above the measured figure: exact, 10%
                        or 4096 (bytes). Without it, the "headroom { ... }" of each
                        file holds; in a file without one, a maximum that holds
                        stays
  --add                 add a threshold for each benchmark that has none
  --record              note changes that were made by hand in the histories, and
                        change no number; needs --reason. With --only and
                        --benchmark, for thresholds that name nothing else
  --file=PATH           the file to which --add adds; needed if there are several
  --environment=PATH    write or extend the file of a new environment
  --dry_run             change nothing, and print the difference
  --help                print this text

Comments, order and spacing stay as they are. Look at the change with git diff.
Every change goes into the history of its threshold, with date and reason.
Exit status: 0 done; 1 some limits stay as they were, because they would have to
rise, because the measured figure does not count, or because --only leaves out
what was changed by hand; 2 nothing was changed because of a mistake, which the
message names.
)";

// Exit statuses: the numbers of gate.proto's Decision, as far as they apply.
constexpr int kDone = 0;
constexpr int kRefused = 1;
constexpr int kMistake = 2;

int Complain(absl::string_view message) {
  for (absl::string_view line : absl::StrSplit(message, '\n')) {
    std::fprintf(stderr, "update: %s\n", std::string(line).c_str());
  }
  return kMistake;
}

// Locks the workspace. If another update runs in it, prints that and waits.
absl::StatusOr<FileLock> LockWorkspace(const std::string& workspace) {
  constexpr int kAttempts = 100;
  const absl::Duration kPause = absl::Milliseconds(100);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    absl::StatusOr<FileLock> lock = FileLock::TryAcquire(workspace);
    if (lock.ok() || !absl::IsUnavailable(lock.status())) return lock;
    if (attempt == 0) {
      std::fprintf(stderr, "update: waiting for another update of %s\n",
                   workspace.c_str());
    }
    absl::SleepFor(kPause);
  }
  return absl::UnavailableError(absl::StrCat(
      workspace,
      ": another update still runs after 10 s; nothing was changed; "
      "wait for it, or end it, and run again"));
}

WorkspaceUpdateRequest MakeRequest(const CommandFlags& flags,
                                   const std::string& workspace) {
  WorkspaceUpdateRequest request;
  request.workspace = workspace;
  request.input = ReadGateInput(flags.Value("manifest", ""));
  request.options.label = flags.Value("only", "*");
  request.options.benchmark = flags.Value("benchmark", "*");
  request.options.allow_increase = flags.Has("allow_increase");
  request.options.reason = flags.Value("reason", "");
  request.options.expires = flags.Value("expires", "");
  // The date is in UTC for everybody, since the dates of a history must not
  // fall.
  request.options.date =
      absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone());
  request.records = flags.Has("record");
  request.adds = flags.Has("add");
  request.added_path = flags.Value("file", "");
  request.environment_path = flags.Value("environment", "");
  // A gate that has no threshold file yet gets its first one (`memory_gate` of
  // gates/defs.bzl names it).
  if (flags.Has("first_file") && request.input.thresholds.empty() &&
      !request.records && request.environment_path.empty()) {
    request.adds = true;
    if (request.added_path.empty()) {
      request.added_path = flags.Value("first_file", "");
      request.is_added_path_named = true;
    }
  }
  return request;
}

// Plans, then writes the files or shows what would change.
absl::StatusOr<WorkspaceUpdate> Update(const CommandFlags& flags,
                                       const std::string& workspace) {
  WorkspaceUpdateRequest request = MakeRequest(flags, workspace);
  if (flags.Has("headroom")) {
    absl::StatusOr<Headroom> headroom =
        ParseHeadroom(flags.Value("headroom", ""));
    if (!headroom.ok()) return headroom.status();
    request.options.headroom = *headroom;
  }
  absl::StatusOr<WorkspaceUpdate> update = PlanWorkspaceUpdate(request);
  if (!update.ok()) return update;
  const bool is_dry = flags.Has("dry_run");
  const absl::Status status =
      is_dry ? PrintDiff(*update) : WriteUpdate(*update);
  if (!status.ok()) return status;
  return update;
}

int Report(const WorkspaceUpdate& update, bool is_dry) {
  if (!is_dry) {
    for (const std::string& description : update.descriptions) {
      std::printf("%s\n", description.c_str());
    }
    if (update.descriptions.empty()) std::printf("nothing to change\n");
  }
  for (const std::string& refusal : update.refusals) {
    std::fprintf(stderr, "update: not changed: %s\n", refusal.c_str());
  }
  return update.refusals.empty() ? kDone : kRefused;
}

// Fails if a flag lacks another one that it needs, or contradicts it.
absl::Status CheckFlags(const CommandFlags& flags) {
  const bool needs_reason =
      flags.Has("allow_increase") || flags.Has("record") || flags.Has("reason");
  if (needs_reason && !IsReason(flags.Value("reason", ""))) {
    return absl::InvalidArgumentError(
        "--allow_increase needs --reason=\"...\", and not a blank one, and so "
        "does --record: say why more memory is worth it; it goes into the "
        "history of each limit that changes");
  }
  for (const char* flag :
       {"add", "file", "environment", "headroom", "allow_increase"}) {
    if (!flags.Has("record") || !flags.Has(flag)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--record changes no number, so --", flag,
                     " has no effect with it; leave one of the "
                     "two out"));
  }
  for (const char* flag : {"file", "environment"}) {
    if (!flags.Has(flag) || !flags.Value(flag, "").empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, "= names no file"));
  }
  absl::CivilDay day;
  if (flags.Has("expires") &&
      (!flags.Has("allow_increase") ||
       !absl::ParseCivilTime(flags.Value("expires", ""), &day) ||
       absl::FormatCivilTime(day) != flags.Value("expires", "") ||
       day < absl::ToCivilDay(absl::Now(), absl::UTCTimeZone()))) {
    return absl::InvalidArgumentError(
        "--expires=DAY says until when a raise is meant: use it with "
        "--allow_increase, and with a day that is not past, such as "
        "2099-12-31");
  }
  if (flags.Has("file") && !flags.Has("add")) {
    return absl::InvalidArgumentError(
        "--file says where --add puts thresholds, and has no effect without "
        "it; add --add, or leave --file out");
  }
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments,
      {"manifest", "update_target", "first_file", "only", "benchmark", "reason",
       "file", "environment", "headroom", "expires"},
      {"allow_increase", "add", "dry_run", "record", "help"});
  if (!flags.ok()) return Complain(flags.status().message());
  if (flags->Has("help")) {
    std::fputs(NameGateTargets(kHelp).c_str(), stdout);
    return kDone;
  }
  // Refuses to run outside `bazel run`.
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr || !flags->Has("manifest")) {
    return Complain(absl::StrCat(
        "this program edits files of the workspace, so it runs by bazel run "
        "only: bazel run ",
        flags->Value("update_target", "//gates:update")));
  }
  if (absl::Status status = CheckFlags(*flags); !status.ok()) {
    return Complain(status.message());
  }
  // Updates the files under the workspace's lock.
  const absl::StatusOr<FileLock> lock = LockWorkspace(workspace);
  if (!lock.ok()) return Complain(lock.status().message());
  const absl::StatusOr<WorkspaceUpdate> update = Update(*flags, workspace);
  if (!update.ok()) return Complain(update.status().message());
  return Report(*update, flags->Has("dry_run"));
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
