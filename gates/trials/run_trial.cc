#include "footprint/gates/trials/run_trial.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/memory/available_memory.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/packing.h"
#include "footprint/gates/images/bundle_or_image.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/sandbox/sandbox.h"
#include "footprint/gates/trials/bundle_pages.h"
#include "footprint/gates/trials/confined_reader.h"
#include "footprint/gates/trials/heap_evidence.h"
#include "footprint/gates/trials/memory_admission.h"
#include "footprint/gates/trials/profiled_run.h"
#include "footprint/gates/trials/trial_decision.h"
#include "footprint/gates/trials/trial_limits.h"
#include "footprint/gates/trials/trial_verdict.h"

namespace footprint {
namespace {

void KeepEnd(const SandboxEnd& end, TrialRun* run) {
  run->set_peak_bytes(end.peak_bytes);
  run->set_peak_resident_bytes(end.peak_resident_bytes);
  run->set_peak_proportional_bytes(end.peak_proportional_bytes);
  run->set_is_out_of_memory(end.killed_process_count > 0);
  run->set_limit_hit_count(end.limit_hit_count);
  run->set_is_timed_out(end.is_timed_out);
  run->set_exit_status(end.exit_status);
  run->set_signal_number(end.signal_number);
  run->set_wall_time_ns(end.program_time_ns);
  run->set_processor_time_ns(end.processor_time_ns);
  run->set_sandbox_time_ns(end.sandbox_time_ns);
  run->set_standard_output_tail(EscapeForProto(end.standard_output_tail));
  run->set_standard_error_tail(EscapeForProto(end.standard_error_tail));
}

absl::StatusOr<std::vector<ThresholdSource>> ReadThresholds(
    const TrialRequest& request) {
  std::vector<ThresholdSource> thresholds;
  for (int i = 0; i < request.threshold_paths_size(); ++i) {
    const std::string& path = request.threshold_paths(i);
    const absl::StatusOr<std::string> text = i < request.threshold_texts_size()
                                                 ? request.threshold_texts(i)
                                                 : ReadWholeFile(path);
    if (!text.ok()) return text.status();
    thresholds.push_back(ParseThresholdFile(path, *text));
  }
  return thresholds;
}

std::string DescribeUnexecutable(const BundleOrImage& input,
                                 const std::string& program,
                                 const absl::Status& status) {
  const std::string where =
      input.image_folder.empty()
          ? ""
          : absl::StrCat(" in the image's folder ",
                         EscapeForProto(input.working_folder));
  const char* const advice =
      absl::StrContains(status.message(), "its folder")
          ? "; name a folder that the image has as its WorkingDir"
          : "; mark it executable, and begin a script with #!";
  return absl::StrCat("'", EscapeForProto(program), "' cannot be executed",
                      where, ": ", status.message(), advice);
}

bool IsFaultOfBundle(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status);
}

void AddDoubt(const std::string& program, const std::string& doubt,
              Verdict* verdict) {
  verdict->set_decision(INCONCLUSIVE);
  Problem* const problem = verdict->add_problems();
  problem->set_decision(INCONCLUSIVE);
  problem->set_location(program);
  problem->set_message(doubt);
}

// Runs the trial of one bundle step by step. A step that settles the trial sets
// the cause in the result, and later steps are skipped.
class Trial {
 public:
  Trial(const TrialRequest& request, MemoryAdmission* admission,
        const TrialSurroundings& surroundings)
      : request_(request),
        admission_(*admission),
        is_stopped_(surroundings.is_stopped),
        on_decided_(surroundings.on_decided) {}

  absl::StatusOr<TrialResult> Run() {
    if (request_.work_folder().empty()) {
      return absl::InvalidArgumentError("a trial needs a work_folder");
    }
    absl::Status status = folder_.Create(request_.work_folder(), "trial");
    if (!status.ok()) return status;
    status = Unpack();
    if (!status.ok() || IsDecided()) return End(status);
    SetLimits();
    if (IsDecided()) return End(status);
    absl::StatusOr<SandboxRoot> root = SandboxRoot::Create(folder_.path());
    if (!root.ok()) return root.status();
    status = Measure(*root);
    if (status.ok() && !IsDecided()) status = Prove(*root);
    if (!status.ok() || result_.cause() == BAD_BUNDLE) return End(status);
    // A threshold cannot turn a rejection into an acceptance.
    const bool is_final =
        request_.threshold_paths().empty() || result_.cause() != FITS;
    if (is_final && on_decided_) {
      SetVerdict();
      on_decided_(result_);
    }
    if (!request_.is_unexplained() || request_.threshold_paths_size() > 0) {
      status = Explain(*root);
    }
    if (status.ok()) status = JudgeByThresholds(*root);
    return End(status);
  }

 private:
  bool IsDecided() const { return result_.cause() != TRIAL_CAUSE_UNSPECIFIED; }

  absl::StatusOr<TrialResult> End(const absl::Status& status) {
    if (!status.ok()) return status;
    SetVerdict();
    return std::move(result_);
  }

  void SetVerdict() {
    *result_.mutable_verdict() = MakeTrialVerdict(result_, by_thresholds_);
  }

  absl::Status DecideBadBundle(const absl::Status& status) {
    Decide(BAD_BUNDLE, EscapeForProto(status.message()), &result_);
    return absl::OkStatus();
  }

  absl::Status Unpack() {
    BundleLimits limits = ReadBundleLimits(request_);
    limits.is_stopped = is_stopped_;
    std::string path = request_.bundle_path();
    const bool is_image = IsImagePath(path, limits);
    struct stat about = {};
    if (!is_image && stat(path.c_str(), &about) != 0) {
      return FileError(errno, path, "cannot be read");
    }
    absl::Status status;
    if (!is_image && S_ISDIR(about.st_mode)) {
      PackingOptions packing;
      packing.limits = limits;
      status = MakeBundle(path, folder_.Path("archive"), packing);
      path = folder_.Path("archive");
    }
    // A bundle is checked before a byte of it is written. The layers of an
    // image are checked one by one.
    if (status.ok() && !is_image) {
      status = ReadBundleOrImage(path, folder_.path(), limits).status();
    }
    if (IsFaultOfBundle(status)) return DecideBadBundle(status);
    if (!status.ok()) return status;
    absl::StatusOr<BundleOrImage> unpacked =
        UnpackBundleOrImage(path, folder_.path(), SandboxUser(), limits);
    // A bundle that could be read is valid, but to unpack it may exceed the
    // time.
    if (absl::IsResourceExhausted(unpacked.status()) ||
        (is_image && IsFaultOfBundle(unpacked.status()))) {
      return DecideBadBundle(unpacked.status());
    }
    if (!unpacked.ok()) return unpacked.status();
    input_ = *std::move(unpacked);
    *result_.mutable_manifest() = input_.manifest;
    result_.set_image_digest(input_.image_digest);
    if (result_.manifest().kind() == BundleManifest::LOWMEM_CHECKPOINT &&
        request_.lowmem_program().empty()) {
      Decide(BAD_BUNDLE,
             "this host has no lowmem program for checkpoints; send a native "
             "program",
             &result_);
    }
    return absl::OkStatus();
  }

  void SetLimits() {
    absl::StatusOr<TrialLimits> limits = ComputeTrialLimits(
        request_, result_.manifest(), admission_.total_bytes());
    if (!limits.ok()) {
      Decide(BAD_BUNDLE, std::string(limits.status().message()), &result_);
      return;
    }
    limits_ = *std::move(limits);
    result_.set_budget_bytes(limits_.budget_bytes);
  }

  SandboxRun MakeRun(int64_t limit_bytes) const {
    return MakeSandboxRun(request_, input_, limits_, limit_bytes);
  }

  // Runs the program once. If it cannot be executed, decides BAD_BUNDLE and
  // returns null.
  absl::StatusOr<const TrialRun*> RunOnce(const SandboxRoot& root,
                                          TrialRun::Purpose purpose,
                                          const SandboxRun& run) {
    const absl::Status evicted =
        EvictFiles(input_.image_folder.empty() ? input_.bundle_folder
                                               : input_.image_folder);
    if (!evicted.ok()) return evicted;
    const MemoryAdmission::Share share = admission_.Await(run.limit_bytes);
    const absl::StatusOr<SandboxEnd> end = RunInSandbox(root, run);
    if (absl::IsInvalidArgument(end.status())) {
      Decide(BAD_BUNDLE,
             DescribeUnexecutable(input_, run.program, end.status()), &result_);
      return nullptr;
    }
    if (!end.ok()) return end.status();
    TrialRun* const trial_run = result_.add_runs();
    trial_run->set_purpose(purpose);
    trial_run->set_limit_bytes(run.limit_bytes);
    KeepEnd(*end, trial_run);
    return trial_run;
  }

  // Measures with a warm page cache. Files of the host that were not in memory
  // count as page cache of the run that reads them. So if the cgroup's peak is
  // above that of the largest process, the run is repeated, and the lower peak
  // counts. Both runs read the bundle's own files from the disk.
  absl::StatusOr<const TrialRun*> MeasureWarm(const SandboxRoot& root) {
    const SandboxRun run = MakeRun(limits_.measuring_limit_bytes);
    absl::StatusOr<const TrialRun*> first =
        RunOnce(root, TrialRun::MEASURE, run);
    if (!first.ok() || *first == nullptr || !HasSucceeded(**first) ||
        (*first)->peak_bytes() <= (*first)->peak_resident_bytes()) {
      return first;
    }
    const int64_t first_peak_bytes = FindPeak(**first);
    absl::StatusOr<const TrialRun*> second =
        RunOnce(root, TrialRun::MEASURE, run);
    if (!second.ok() || *second == nullptr || !HasSucceeded(**second) ||
        FindPeak(**second) <= first_peak_bytes) {
      return second;
    }
    return &result_.runs(0);
  }

  absl::Status Measure(const SandboxRoot& root) {
    absl::StatusOr<const TrialRun*> done = MeasureWarm(root);
    if (!done.ok()) return done.status();
    if (*done != nullptr) DecideMeasuredRun(**done, limits_, &result_);
    return absl::OkStatus();
  }

  absl::Status Prove(const SandboxRoot& root) {
    absl::StatusOr<const TrialRun*> done =
        RunOnce(root, TrialRun::PROVE, MakeRun(limits_.budget_bytes));
    if (!done.ok()) return done.status();
    if (*done != nullptr) DecideProvedRun(**done, limits_, &result_);
    return absl::OkStatus();
  }

  // Runs the program under the profiler; its outcome changes no verdict.
  absl::Status Explain(const SandboxRoot& root) {
    SandboxRun run = MakeRun(limits_.measuring_limit_bytes + kProfilerBytes);
    run.scratch_bytes = std::max(run.scratch_bytes, kProfilerBytes);
    run.time_limit_seconds *= kProfilerTimes;
    // A threshold needs exact bytes; an explanation only needs the largest
    // sites.
    ProfiledRun profiled(folder_.Path("profiler"),
                         !request_.threshold_paths().empty());
    absl::Status status = profiled.Prepare(&run);
    if (!status.ok()) return status;
    const TrialResult before = result_;
    absl::StatusOr<const TrialRun*> done =
        RunOnce(root, TrialRun::EXPLAIN, run);
    if (!done.ok()) return done.status();
    if (*done == nullptr) {
      result_ = before;
      return absl::OkStatus();
    }
    {
      const int64_t limit_bytes =
          std::min(kReaderLimitBytes, admission_.total_bytes());
      const MemoryAdmission::Share share = admission_.Await(limit_bytes);
      profiled.Explain(root, **done, limit_bytes, &result_);
    }
    if (!result_.peak_stage().empty()) {
      absl::StrAppend(result_.mutable_reason(),
                      "; its heap's peak is in the stage '",
                      result_.peak_stage(), "'");
    }
    return absl::OkStatus();
  }

  // Returns why the profile may not describe the program, or an empty string.
  // If necessary, runs the program once more, without the profiler and under
  // the memory that the recorded heap explains.
  absl::StatusOr<std::string> DoubtProfile(const SandboxRoot& root,
                                           const Verdict& verdict) {
    const TrialRun& profiled = result_.runs(result_.runs_size() - 1);
    if (profiled.purpose() != TrialRun::EXPLAIN || !HasSucceeded(profiled)) {
      return absl::StrCat("the profiled run ", DescribeEnd(profiled));
    }
    const int64_t limit_bytes =
        ComputeMostExplainedBytes(result_.profile(), verdict);
    const int64_t measured_bytes = result_.whole_process_peak_bytes();
    if (std::min(measured_bytes, limits_.budget_bytes) <= limit_bytes)
      return "";
    absl::StatusOr<const TrialRun*> done =
        RunOnce(root, TrialRun::PROVE_HEAP, MakeRun(limit_bytes));
    if (!done.ok()) return done.status();
    if (*done != nullptr && HasSucceeded(**done)) return "";
    return absl::StrCat(
        "the heap that the profiler recorded, ",
        FormatBytes(result_.heap_peak_bytes()), ", does not explain the ",
        FormatBytes(measured_bytes),
        " that were measured: without the profiler the program needs more "
        "than ",
        FormatBytes(limit_bytes),
        "; add a threshold on PEAK_RESIDENT_BYTES or PEAK_MAPPED_BYTES");
  }

  absl::Status JudgeByThresholds(const SandboxRoot& root) {
    if (request_.threshold_paths().empty() || result_.runs().empty()) {
      return absl::OkStatus();
    }
    const absl::StatusOr<std::vector<ThresholdSource>> thresholds =
        ReadThresholds(request_);
    if (!thresholds.ok()) return thresholds.status();
    Verdict verdict =
        Evaluate({ProfileToJudge(result_)}, *thresholds, EvaluationOptions());
    std::string doubt;
    if (result_.cause() == FITS && verdict.decision() == ACCEPT &&
        IsHeapJudged(verdict)) {
      const absl::StatusOr<std::string> found = DoubtProfile(root, verdict);
      if (!found.ok()) return found.status();
      doubt = *found;
    }
    if (!doubt.empty()) AddDoubt(result_.manifest().entry(), doubt, &verdict);
    by_thresholds_ = verdict;
    DecideByThresholds(verdict.decision(), doubt, &result_);
    return absl::OkStatus();
  }

  const TrialRequest& request_;
  MemoryAdmission& admission_;
  const std::function<bool()>& is_stopped_;
  const std::function<void(const TrialResult&)>& on_decided_;
  TemporaryFolder folder_;
  BundleOrImage input_;
  TrialResult result_;
  Verdict by_thresholds_;
  TrialLimits limits_;
};

}  // namespace

absl::StatusOr<int64_t> ReadBytesForRuns() {
  const absl::StatusOr<AvailableMemory> available = ReadAvailableMemory();
  if (!available.ok()) return available.status();
  return MemoryAdmission::BytesForRuns(available->bytes);
}

absl::StatusOr<TrialResult> RunTrial(const TrialRequest& request,
                                     const TrialSurroundings& surroundings) {
  if (request.budget_bytes() < 0 || request.time_limit_seconds() < 0) {
    return absl::InvalidArgumentError(
        "budget_bytes and time_limit_seconds are not negative");
  }
  if (surroundings.admission != nullptr) {
    return Trial(request, surroundings.admission, surroundings).Run();
  }
  const absl::StatusOr<int64_t> bytes = ReadBytesForRuns();
  if (!bytes.ok()) return bytes.status();
  MemoryAdmission admission(*bytes);
  return Trial(request, &admission, surroundings).Run();
}

}  // namespace footprint
