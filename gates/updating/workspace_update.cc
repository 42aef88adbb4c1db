#include "footprint/gates/updating/workspace_update.h"

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/environment_check.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/posix_quote.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/updating/threshold_edit.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

bool NamesLabel(const ThresholdSource& source, const MemoryProfile& profile) {
  for (const Threshold& threshold : source.file.threshold()) {
    if (GlobMatches(threshold.selector().label(), profile.label())) {
      return true;
    }
  }
  return false;
}

// Returns whether the request records every change, which needs no profile.
bool IsAllSelected(const WorkspaceUpdateRequest& request) {
  return request.records && request.options.label == "*" &&
         request.options.benchmark == "*";
}

absl::Status CheckSelection(const WorkspaceUpdateRequest& request) {
  if (!IsGlob(request.options.label) || !IsGlob(request.options.benchmark)) {
    return absl::InvalidArgumentError(
        "--only and --benchmark have a backslash only before a star or a "
        "backslash that is part of the name: \\* and \\\\");
  }
  for (const MemoryProfile& profile : request.input.profiles) {
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      if (GlobMatches(request.options.label, profile.label()) &&
          GlobMatches(request.options.benchmark, benchmark.name())) {
        return absl::OkStatus();
      }
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "nothing that was measured is named --only=", request.options.label,
      " --benchmark=", request.options.benchmark,
      "; run the gate's check to see the names, and failed producers"));
}

// Returns how many benchmarks the threshold's selector names. Returns nullopt
// if it names one benchmark by its whole name, or if the profiles here may not
// show all that it names, or the request leaves it out.
absl::optional<int> CountNamed(const WorkspaceUpdateRequest& request,
                               const MeasurementIndex& index,
                               const ThresholdSource& source, int number) {
  const Threshold& threshold = source.file.threshold(number);
  const Selector& selector = threshold.selector();
  if (IsLiteral(selector.label()) && IsLiteral(selector.benchmark()) &&
      !selector.benchmark().empty()) {
    return absl::nullopt;
  }
  // Other gates may measure the rest of its labels.
  if (source.file.shared() && !IsLiteral(selector.label())) {
    return absl::nullopt;
  }
  if (!WhyLeftOut(threshold, request.input.profiles, request.options).empty()) {
    return absl::nullopt;
  }
  int count = 0;
  for (const int profile : index.FindProfiles(selector.label())) {
    const MemoryProfile& measured = index.ProfileAt(profile);
    if (!IsForEnvironment(measured, source)) continue;
    if (measured.has_failure()) return absl::nullopt;
    count += static_cast<int>(index.FindBenchmarks(profile, selector).size());
  }
  if (count == 0) return absl::nullopt;
  return count;
}

// Returns the text to add thresholds to: that of a new file if `text` is blank.
std::string TextToAddTo(const std::string& text) {
  return absl::StripAsciiWhitespace(text).empty()
             ? NewThresholdText(absl::nullopt)
             : text;
}

// Returns the path of the file for new thresholds of the profile: the file that
// has its other thresholds.
absl::StatusOr<std::string> FindFileFor(
    const WorkspaceUpdateRequest& request,
    const std::vector<ThresholdSource>& sources, const MemoryProfile& profile) {
  if (!request.added_path.empty()) return request.added_path;
  std::vector<std::string> beside;
  std::vector<std::string> possible;
  for (const ThresholdSource& source : sources) {
    if (!IsForEnvironment(profile, source)) continue;
    possible.push_back(source.path);
    if (NamesLabel(source, profile)) beside.push_back(source.path);
  }
  if (beside.size() == 1) return beside[0];
  if (beside.empty() && possible.size() == 1) return possible[0];
  return absl::InvalidArgumentError(
      absl::StrCat("--add: ", beside.empty() ? possible.size() : beside.size(),
                   " files could hold thresholds of ", profile.label(),
                   "; name one with --file="));
}

// Plans an update step by step; each step edits the result of the steps before.
class WorkspacePlanner {
 public:
  explicit WorkspacePlanner(const WorkspaceUpdateRequest& request)
      : request_(request) {}

  absl::StatusOr<WorkspaceUpdate> Plan() {
    absl::Status status = Read();
    if (status.ok() && !request_.records) status = PlanChanges();
    if (!status.ok()) return status;
    return std::move(update_);
  }

 private:
  absl::Status PlanChanges() {
    absl::Status status = PlanNumbers();
    if (status.ok() && !request_.environment_path.empty()) {
      status = PlanEnvironment();
    }
    if (status.ok() && request_.adds) status = PlanAdditions();
    return status;
  }

  std::string InWorkspace(const std::string& path) const {
    return path.empty() || path[0] == '/'
               ? path
               : absl::StrCat(request_.workspace, "/", path);
  }

  absl::Status Read() {
    std::vector<Problem> problems = request_.input.problems;
    for (const ThresholdSource& source : request_.input.thresholds) {
      // The built file may be older than the file in the workspace.
      absl::StatusOr<std::string> text =
          ReadWholeFile(InWorkspace(source.path));
      if (!text.ok()) return text.status();
      update_.files.push_back(
          {source.path, InWorkspace(source.path), *text, *text});
      if (request_.records) {
        absl::Status status = Record(&update_.files.back());
        if (!status.ok()) return status;
      }
      if (request_.adds &&
          IsThresholdFileWithoutRules(update_.files.back().text)) {
        // It gets thresholds below, or has the same problems as before.
        sources_.push_back(ParseThresholdFile(
            source.path, TextToAddTo(update_.files.back().text)));
        sources_.back().problems.clear();
        continue;
      }
      // Recording has already checked the histories.
      google::protobuf::TextFormat::ParseInfoTree locations;
      sources_.push_back(ParseThresholdFile(source.path,
                                            update_.files.back().edited,
                                            &locations, !request_.records));
      for (const Problem& problem : sources_.back().problems) {
        problems.push_back(problem);
      }
    }
    // Reports all problems at once.
    std::string message;
    for (const Problem& problem : problems) {
      absl::StrAppend(&message, message.empty() ? "" : "\n", problem.location(),
                      ": ", problem.message());
    }
    if (!message.empty()) return absl::InvalidArgumentError(message);
    return IsAllSelected(request_) ? absl::OkStatus()
                                   : CheckSelection(request_);
  }

  absl::Status Record(WorkspaceUpdate::File* file) {
    absl::StatusOr<RecordedChanges> recorded = RecordChangesByHand(
        file->path, file->text, request_.options.date, request_.options.reason,
        [this](const Threshold& threshold) {
          return WhyLeftOut(threshold, request_.input.profiles,
                            request_.options);
        });
    if (!recorded.ok()) return recorded.status();
    file->edited = recorded->text;
    update_.descriptions.insert(update_.descriptions.end(),
                                recorded->descriptions.begin(),
                                recorded->descriptions.end());
    update_.refusals.insert(update_.refusals.end(), recorded->left.begin(),
                            recorded->left.end());
    return absl::OkStatus();
  }

  absl::Status PlanNumbers() {
    UpdatePlan plan =
        PlanUpdate(request_.input.profiles, sources_, request_.options);
    for (size_t i = 0; i < update_.files.size(); ++i) {
      if (plan.changes[i].empty()) continue;
      absl::StatusOr<std::string> edited = EditThresholds(
          update_.files[i].path, update_.files[i].text, plan.changes[i]);
      if (!edited.ok()) return edited.status();
      update_.files[i].edited = *edited;
    }
    update_.descriptions = std::move(plan.descriptions);
    update_.refusals = std::move(plan.refusals);
    return absl::OkStatus();
  }

  // Plans thresholds for measurements that files of other environments judge
  // and no file of the profile's own environment does.
  absl::Status PlanEnvironment() {
    NewThresholds added = ThresholdsForEnvironment(request_.input.profiles,
                                                   sources_, request_.options);
    AddRefusals(added);
    std::vector<const Environment*> environments;
    for (const MemoryProfile& profile : request_.input.profiles) {
      for (const Threshold& threshold : added.thresholds) {
        if (GlobMatches(request_.options.label, profile.label()) &&
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
    return AddTo(request_.environment_path, *environments[0], added.thresholds);
  }

  void AddRefusals(const NewThresholds& added) {
    update_.refusals.insert(update_.refusals.end(), added.refusals.begin(),
                            added.refusals.end());
  }

  // Appends thresholds to the file at `path`, which is new if it does not
  // exist. Fails if the file is for another environment, or would have
  // problems.
  absl::Status AddTo(const std::string& path, const Environment& environment,
                     const std::vector<Threshold>& thresholds) {
    WorkspaceUpdate::File* file = nullptr;
    for (WorkspaceUpdate::File& known : update_.files) {
      if (known.path == path) file = &known;
    }
    if (file == nullptr) {
      const absl::StatusOr<std::string> text = ReadWholeFile(InWorkspace(path));
      if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
      update_.files.push_back(
          {path, InWorkspace(path), text.ok() ? *text : "",
           text.ok() ? *text : NewThresholdText(environment)});
      file = &update_.files.back();
      update_.descriptions.push_back(absl::StrCat(
          path, request_.is_added_path_named
                    ? ": is new; check it in"
                    : ": name it in the gate's `thresholds`, if no glob does"));
    }
    // Checks the edited text before the file is changed.
    const std::string edited =
        AppendThresholds(TextToAddTo(file->edited), thresholds);
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
      update_.descriptions.push_back(
          absl::StrCat(path, ": added ", DescribeSelector(threshold.selector()),
                       ": ", ShortNameOfMetric(threshold.metric())));
    }
    return absl::OkStatus();
  }

  // Plans the benchmark_count of each selector that may name several
  // benchmarks.
  absl::Status PlanCounts() {
    const MeasurementIndex index(request_.input.profiles);
    for (size_t i = 0; i < sources_.size(); ++i) {
      std::vector<ThresholdChange> changes;
      for (int j = 0; j < sources_[i].file.threshold_size(); ++j) {
        const Threshold& threshold = sources_[i].file.threshold(j);
        const absl::optional<int> count =
            CountNamed(request_, index, sources_[i], j);
        if (!count.has_value() || *count == threshold.benchmark_count()) {
          continue;
        }
        ThresholdChange change;
        change.threshold = j;
        change.benchmark_count = *count;
        changes.push_back(change);
        update_.descriptions.push_back(absl::StrCat(
            sources_[i].DescribeLocation(j), ": ",
            DescribeSelector(threshold.selector()), ": benchmark_count ",
            threshold.has_benchmark_count()
                ? absl::StrCat(threshold.benchmark_count(), " -> ")
                : "",
            *count));
      }
      if (changes.empty()) continue;
      absl::StatusOr<std::string> edited =
          EditThresholds(sources_[i].path, update_.files[i].edited, changes);
      if (!edited.ok()) return edited.status();
      update_.files[i].edited = *edited;
    }
    return absl::OkStatus();
  }

  absl::Status PlanAdditions() {
    absl::Status counted = PlanCounts();
    if (!counted.ok()) return counted;
    for (const MemoryProfile& profile : request_.input.profiles) {
      const absl::Span<const MemoryProfile> one =
          absl::MakeConstSpan(&profile, 1);
      // A new file gets the environment of the profile.
      ThresholdFile file;
      *file.mutable_environment() = profile.environment();
      const NewThresholds wanted =
          ThresholdsForNewBenchmarks(one, sources_, request_.options, file);
      AddRefusals(wanted);
      if (wanted.thresholds.empty()) continue;
      absl::StatusOr<std::string> path =
          FindFileFor(request_, sources_, profile);
      if (!path.ok()) return path.status();
      for (const ThresholdSource& source : sources_) {
        if (source.path == *path) file = source.file;
      }
      absl::Status status = AddTo(
          *path, profile.environment(),
          ThresholdsForNewBenchmarks(one, sources_, request_.options, file)
              .thresholds);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const WorkspaceUpdateRequest& request_;
  std::vector<ThresholdSource> sources_;
  WorkspaceUpdate update_;
};

absl::Status PrintFileDiff(const WorkspaceUpdate::File& file) {
  const char* folder = std::getenv("TMPDIR");
  const std::string before = absl::StrCat(folder == nullptr ? "/tmp" : folder,
                                          "/footprint_update.", getpid());
  const std::string after = before + ".new";
  absl::Status status = ReplaceFile(before, file.text, ToDisk::kFlush);
  status.Update(ReplaceFile(after, file.edited, ToDisk::kFlush));
  const std::string label = PosixQuote(EscapeForTerminal(file.path));
  const std::string command =
      absl::StrCat("diff -u --label=", label, " --label=", label, " -- ",
                   PosixQuote(before), " ", PosixQuote(after));
  const int difference = status.ok() ? std::system(command.c_str()) : 0;
  unlink(before.c_str());
  unlink(after.c_str());
  if (!status.ok()) return status;
  if (difference != 256) {
    return absl::UnavailableError(
        "--dry_run: diff cannot be run; install diffutils");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WorkspaceUpdate> PlanWorkspaceUpdate(
    const WorkspaceUpdateRequest& request) {
  return WorkspacePlanner(request).Plan();
}

absl::Status WriteUpdate(const WorkspaceUpdate& update) {
  for (const WorkspaceUpdate::File& file : update.files) {
    if (file.edited == file.text) continue;
    absl::Status status =
        ReplaceFile(file.written_path, file.edited, ToDisk::kFlush);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PrintDiff(const WorkspaceUpdate& update) {
  std::fflush(stdout);
  for (const WorkspaceUpdate::File& file : update.files) {
    if (file.edited == file.text) continue;
    absl::Status status = PrintFileDiff(file);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace footprint
