// Brings the numbers of threshold files to what was measured. Run through the
// rules of gates/defs.bzl, which give it a manifest.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/gates/programs/command_flags.h"
#include "footprint/gates/updating/threshold_edit.h"
#include "footprint/gates/updating/threshold_update.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Brings the numbers of threshold files to what was measured.

  bazel run //gates:update                      lowers exact values, and maxima of files
                                                that state a headroom
  bazel run //gates:update -- --dry_run         shows what would change
  bazel run //gates:update -- --allow_increase --reason="why" --only=//a:b
                                                raises too, and writes it down
  bazel run //gates:update -- --add --only=//a:b
                                                adds benchmarks without a threshold
  bazel run //gates:update -- --environment=gates/thresholds/a.new.textproto
                                                keeps the values of this machine's
                                                environment in a file of their own

Flags
  --only=LABEL          only what was measured by this label ('*': any characters)
  --benchmark=NAME      only this benchmark ('*': any characters, '\*': a star);
                        a threshold that names others too is not loosened
  --allow_increase      let limits rise; needs --reason
  --reason=TEXT         goes into the history of each number that changes
  --headroom=HOW        how far maxima stay above what was measured: exact, 10% or
                        4096 (bytes); without it each file's own "headroom { ... }"
                        holds, and in a file without one a maximum that holds stays
  --add                 add a threshold for each benchmark that has none
  --record              write what was changed by hand into the histories, and
                        change no number; needs --reason; with --only and
                        --benchmark for thresholds that name nothing else
  --file=PATH           where --add puts them; needed if there is a choice
  --environment=PATH    write or extend the file of a new environment
  --dry_run             change nothing, print the difference
  --help                this text

Comments, order and spacing stay as they are. Look at the change with git diff.
Every change goes into the history of its threshold, with date and reason.
Exit status: 0 done, 1 some limits were left: they would have to rise, what was
measured does not count, or --only leaves out what was changed by hand, 2 nothing was changed because of a mistake that the message
names.
)";

// The numbers of gate.proto's Decision, as far as they apply.
constexpr int kDone = 0;
constexpr int kRefused = 1;
constexpr int kMistake = 2;

int Complain(absl::string_view message) {
  std::fprintf(stderr, "update: %s\n", std::string(message).c_str());
  return kMistake;
}

// One threshold file, in the workspace.
struct WorkspaceFile {
  std::string path;  // from the workspace's top
  std::string text;
  std::string edited;
};

class Update {
 public:
  Update(CommandFlags flags, std::string workspace)
      : flags_(std::move(flags)), workspace_(std::move(workspace)) {
    options_.label = flags_.Value("only", "*");
    options_.benchmark = flags_.Value("benchmark", "*");
    options_.allow_increase = flags_.Has("allow_increase");
    options_.reason = flags_.Value("reason", "");
    // Of one zone for everybody, since dates of a history must not fall.
    options_.date =
        absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone());
  }

  int Run() {
    absl::Status status = ReadHeadroom();
    if (status.ok()) status = Read();
    if (status.ok() && flags_.Has("record")) return Finish(WriteOrShow());
    if (status.ok()) status = PlanNumbers();
    if (status.ok() && flags_.Has("environment")) status = PlanEnvironment();
    if (status.ok() && flags_.Has("add")) status = PlanAdditions();
    if (status.ok()) status = WriteOrShow();
    return Finish(status);
  }

 private:
  absl::Status WriteOrShow() {
    return flags_.Has("dry_run") ? PrintDiff() : WriteFiles();
  }

  int Finish(const absl::Status& status) const {
    if (!status.ok()) return Complain(status.message());
    for (const std::string& refusal : refusals_) {
      std::fprintf(stderr, "update: not changed: %s\n", refusal.c_str());
    }
    return refusals_.empty() ? kDone : kRefused;
  }

  std::string InWorkspace(const std::string& path) const {
    return path.empty() || path[0] == '/' ? path
                                          : absl::StrCat(workspace_, "/", path);
  }

  absl::Status ReadHeadroom() {
    if (!flags_.Has("headroom")) return absl::OkStatus();
    absl::StatusOr<Headroom> headroom =
        ParseHeadroom(flags_.Value("headroom", ""));
    if (headroom.ok()) options_.headroom = *headroom;
    return headroom.status();
  }

  absl::Status Read() {
    GateInput input = ReadGateInput(flags_.Value("manifest", ""));
    profiles_ = std::move(input.profiles);
    for (const ThresholdSource& source : input.thresholds) {
      // What is built may be older than what is edited since.
      absl::StatusOr<std::string> text =
          ReadWholeFile(InWorkspace(source.path));
      if (!text.ok()) return text.status();
      files_.push_back({source.path, *text, *text});
      if (flags_.Has("record")) {
        absl::Status status = Record(&files_.back());
        if (!status.ok()) return status;
      }
      // Histories were checked while they were recorded.
      google::protobuf::TextFormat::ParseInfoTree locations;
      sources_.push_back(ParseThresholdFile(source.path, files_.back().edited,
                                            &locations, !flags_.Has("record")));
      for (const Problem& problem : sources_.back().problems) {
        input.problems.push_back(problem);
      }
    }
    std::string problems;
    for (const Problem& problem : input.problems) {
      absl::StrAppend(&problems,
                      problems.empty() ? "" : "\nupdate: ", problem.location(),
                      ": ", problem.message());
    }
    if (!problems.empty()) return absl::InvalidArgumentError(problems);
    return IsAllSelected() ? absl::OkStatus() : CheckSelection();
  }

  // Recording all asks nothing of the profiles.
  bool IsAllSelected() const {
    return flags_.Has("record") && !flags_.Has("only") &&
           !flags_.Has("benchmark");
  }

  absl::Status Record(WorkspaceFile* file) {
    absl::StatusOr<RecordedChanges> recorded = RecordChangesByHand(
        file->path, file->text, options_.date, options_.reason,
        [this](const Threshold& threshold) {
          return WhyLeftOut(threshold, profiles_, options_);
        });
    if (!recorded.ok()) return recorded.status();
    file->edited = recorded->text;
    descriptions_.insert(descriptions_.end(), recorded->descriptions.begin(),
                         recorded->descriptions.end());
    refusals_.insert(refusals_.end(), recorded->left.begin(),
                     recorded->left.end());
    return absl::OkStatus();
  }

  absl::Status CheckSelection() const {
    if (!IsGlob(options_.label) || !IsGlob(options_.benchmark)) {
      return absl::InvalidArgumentError(
          "--only and --benchmark have a backslash only before a star or a "
          "backslash that is part of the name: \\* and \\\\");
    }
    for (const MemoryProfile& profile : profiles_) {
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        if (GlobMatches(options_.label, profile.label()) &&
            GlobMatches(options_.benchmark, benchmark.name())) {
          return absl::OkStatus();
        }
      }
    }
    return absl::NotFoundError(absl::StrCat(
        "nothing that was measured is named --only=", options_.label,
        " --benchmark=", options_.benchmark,
        "; run the gate's check to see the names, and failed producers"));
  }

  absl::Status PlanNumbers() {
    UpdatePlan plan = PlanUpdate(profiles_, sources_, options_);
    for (size_t i = 0; i < files_.size(); ++i) {
      if (plan.changes[i].empty()) continue;
      absl::StatusOr<std::string> edited =
          EditThresholds(files_[i].path, files_[i].text, plan.changes[i]);
      if (!edited.ok()) return edited.status();
      files_[i].edited = *edited;
    }
    descriptions_ = std::move(plan.descriptions);
    refusals_ = std::move(plan.refusals);
    return absl::OkStatus();
  }

  // What files of other environments judge, and none of the profile's own does.
  absl::Status PlanEnvironment() {
    NewThresholds added =
        ThresholdsForEnvironment(profiles_, sources_, options_);
    AddRefusals(added);
    std::vector<const Environment*> environments;
    for (const MemoryProfile& profile : profiles_) {
      for (const Threshold& threshold : added.thresholds) {
        if (GlobMatches(options_.label, profile.label()) &&
            GlobMatches(threshold.selector().label(), profile.label())) {
          environments.push_back(&profile.environment());
          break;
        }
      }
    }
    for (const Environment* environment : environments) {
      if (CountDifferences(*environments[0], *environment) > 0) {
        return absl::InvalidArgumentError(
            "the profiles are of several environments; name one with --only");
      }
    }
    if (added.thresholds.empty()) {
      if (!added.refusals.empty()) return absl::OkStatus();
      return absl::NotFoundError(
          "--environment: every profile that was named has thresholds of its "
          "own environment, or none at all; for new benchmarks use --add");
    }
    return AddTo(flags_.Value("environment", ""), *environments[0],
                 added.thresholds);
  }

  void AddRefusals(const NewThresholds& added) {
    refusals_.insert(refusals_.end(), added.refusals.begin(),
                     added.refusals.end());
  }

  static bool NamesLabel(const ThresholdSource& source,
                         const MemoryProfile& profile) {
    for (const Threshold& threshold : source.file.threshold()) {
      if (GlobMatches(threshold.selector().label(), profile.label())) {
        return true;
      }
    }
    return false;
  }

  absl::Status AddTo(const std::string& path, const Environment& environment,
                     const std::vector<Threshold>& thresholds) {
    WorkspaceFile* file = nullptr;
    for (WorkspaceFile& known : files_) {
      if (known.path == path) file = &known;
    }
    if (file == nullptr) {
      const absl::StatusOr<std::string> text = ReadWholeFile(InWorkspace(path));
      if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
      files_.push_back({path, text.ok() ? *text : "",
                        text.ok() ? *text : NewThresholdText(environment)});
      file = &files_.back();
      descriptions_.push_back(absl::StrCat(
          path, ": name it in the gate's `thresholds`, if no glob does"));
    }
    const std::string edited = AppendThresholds(file->edited, thresholds);
    const ThresholdSource source = ParseThresholdFile(path, edited);
    if (!source.problems.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "what should be added does not fit: ", source.problems[0].location(),
          ": ", source.problems[0].message()));
    }
    if (source.file.has_environment() &&
        CountDifferences(source.file.environment(), environment) > 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": is of another environment: here ",
          DescribeDifference(environment, source.file.environment()),
          "; name another file"));
    }
    file->edited = edited;
    for (const Threshold& threshold : thresholds) {
      descriptions_.push_back(absl::StrCat(
          path, ": added ", DescribeSelector(threshold.selector())));
    }
    return absl::OkStatus();
  }

  absl::Status PlanAdditions() {
    for (const MemoryProfile& profile : profiles_) {
      const absl::Span<const MemoryProfile> one =
          absl::MakeConstSpan(&profile, 1);
      // A new file gets the environment of the profile.
      ThresholdFile file;
      *file.mutable_environment() = profile.environment();
      const NewThresholds wanted =
          ThresholdsForNewBenchmarks(one, sources_, options_, file);
      AddRefusals(wanted);
      if (wanted.thresholds.empty()) continue;
      absl::StatusOr<std::string> path = FileFor(profile);
      if (!path.ok()) return path.status();
      for (const ThresholdSource& source : sources_) {
        if (source.path == *path) file = source.file;
      }
      absl::Status status = AddTo(
          *path, profile.environment(),
          ThresholdsForNewBenchmarks(one, sources_, options_, file).thresholds);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Where new thresholds of a profile belong: beside those it has.
  absl::StatusOr<std::string> FileFor(const MemoryProfile& profile) const {
    if (flags_.Has("file")) return flags_.Value("file", "");
    std::vector<std::string> beside;
    std::vector<std::string> possible;
    for (const ThresholdSource& source : sources_) {
      if (!IsForEnvironmentOf(profile, source)) continue;
      possible.push_back(source.path);
      if (NamesLabel(source, profile)) beside.push_back(source.path);
    }
    if (beside.size() == 1) return beside[0];
    if (beside.empty() && possible.size() == 1) return possible[0];
    return absl::InvalidArgumentError(absl::StrCat(
        "--add: ", beside.empty() ? possible.size() : beside.size(),
        " files could hold thresholds of ", profile.label(),
        "; name one with --file="));
  }

  absl::Status WriteFiles() {
    for (const WorkspaceFile& file : files_) {
      if (file.edited == file.text) continue;
      absl::Status status =
          ReplaceFile(InWorkspace(file.path), file.edited, ToDisk::kFlush);
      if (!status.ok()) return status;
    }
    for (const std::string& description : descriptions_) {
      std::printf("%s\n", description.c_str());
    }
    if (descriptions_.empty()) std::printf("nothing to change\n");
    return absl::OkStatus();
  }

  // By diff, which every Debian has.
  absl::Status PrintDiff() {
    std::fflush(stdout);
    for (const WorkspaceFile& file : files_) {
      if (file.edited == file.text) continue;
      const char* folder = std::getenv("TMPDIR");
      const std::string before = absl::StrCat(
          folder == nullptr ? "/tmp" : folder, "/footprint_update.", getpid());
      const std::string after = before + ".new";
      absl::Status status = ReplaceFile(before, file.text, ToDisk::kFlush);
      status.Update(ReplaceFile(after, file.edited, ToDisk::kFlush));
      const std::string command =
          absl::StrCat("diff -u --label=", ShellQuote(file.path),
                       " --label=", ShellQuote(file.path), " -- ",
                       ShellQuote(before), " ", ShellQuote(after));
      const int difference = status.ok() ? std::system(command.c_str()) : 0;
      unlink(before.c_str());
      unlink(after.c_str());
      if (!status.ok()) return status;
      if (difference != 256) {
        return absl::UnavailableError(
            "--dry_run: diff cannot be run; install diffutils");
      }
    }
    return absl::OkStatus();
  }

  const CommandFlags flags_;
  const std::string workspace_;
  UpdateOptions options_;
  std::vector<MemoryProfile> profiles_;
  std::vector<ThresholdSource> sources_;
  std::vector<WorkspaceFile> files_;
  std::vector<std::string> descriptions_;
  std::vector<std::string> refusals_;
};

// Waits for another update of the same workspace, and says so.
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

int Main(const std::vector<std::string>& arguments) {
  absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments,
      {"manifest", "update_target", "only", "benchmark", "reason", "file",
       "environment", "headroom"},
      {"allow_increase", "add", "dry_run", "record", "help"});
  if (!flags.ok()) return Complain(flags.status().message());
  if (flags->Has("help")) {
    std::fputs(kHelp, stdout);
    return kDone;
  }
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr || !flags->Has("manifest")) {
    return Complain(absl::StrCat(
        "it edits files of the workspace, so it runs by bazel run only: bazel "
        "run ",
        flags->Value("update_target", "//gates:update")));
  }
  const bool needs_reason = flags->Has("allow_increase") ||
                            flags->Has("record") || flags->Has("reason");
  if (needs_reason && !IsReason(flags->Value("reason", ""))) {
    return Complain(
        "--allow_increase needs --reason=\"...\", and not a blank one, and so "
        "does --record: say why more memory is worth it; it goes into the "
        "history of each limit that changes");
  }
  for (const char* flag :
       {"add", "file", "environment", "headroom", "allow_increase"}) {
    if (!flags->Has("record") || !flags->Has(flag)) continue;
    return Complain(absl::StrCat("--record changes no number, so --", flag,
                                 " means nothing beside it; leave one of the "
                                 "two out"));
  }
  const absl::StatusOr<FileLock> lock = LockWorkspace(workspace);
  if (!lock.ok()) return Complain(lock.status().message());
  return Update(*std::move(flags), workspace).Run();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
