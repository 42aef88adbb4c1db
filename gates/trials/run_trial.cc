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
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/memory/available_memory.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/sandbox/sandbox.h"
#include "footprint/gates/trials/bundle_pages.h"
#include "footprint/gates/trials/confined_reader.h"
#include "footprint/gates/trials/heap_evidence.h"
#include "footprint/gates/trials/memory_admission.h"
#include "footprint/gates/trials/profiled_run.h"
#include "footprint/gates/trials/trial_verdict.h"

namespace footprint {
namespace {

constexpr int kDefaultTimeLimitSeconds = 60;
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kDefaultScratchBytes = 64 * kMiB;
constexpr int64_t kProfilerBytes = 256 * kMiB;
// Longer than the program takes by itself.
constexpr int kProfilerTimes = 4;
constexpr int64_t kMeasuringLimitWithoutBudget = int64_t{4} << 30;
// Below it, a budget holds no process at all.
constexpr int64_t kLeastLimitBytes = kMiB;
// The kernel counts pages before a process has them, so a limit is met a little
// below itself.
constexpr int64_t kNearLimitBytes = kMiB / 4;
constexpr int kDefaultProcessLimit = 256;

BundleLimits LimitsOf(const TrialRequest& request) {
  BundleLimits limits;
  if (request.most_archive_bytes() > 0) {
    limits.archive_bytes = request.most_archive_bytes();
  }
  if (request.most_unpacked_bytes() > 0) {
    limits.unpacked_bytes = request.most_unpacked_bytes();
  }
  return limits;
}

void Decide(TrialCause cause, std::string reason, TrialResult* result) {
  result->set_cause(cause);
  result->set_reason(std::move(reason));
}

int64_t PeakOf(const TrialRun& run) {
  return std::max({run.peak_bytes(), run.peak_resident_bytes(),
                   run.peak_proportional_bytes()});
}

const char* NamePeak(const TrialRun& run) {
  if (run.peak_bytes() == PeakOf(run)) return "peak of the cgroup";
  return run.peak_resident_bytes() == PeakOf(run)
             ? "resident peak of the largest process"
             : "resident sum of all processes, shared pages once";
}

// Whether the run was killed though its own limit had room, which happens where
// the host has too little memory.
bool IsKilledByHost(const TrialRun& run) {
  return run.is_out_of_memory() &&
         run.peak_bytes() < run.limit_bytes() - kNearLimitBytes;
}

bool EndedWell(const TrialRun& run) {
  return !run.is_timed_out() && run.exit_status() == 0 &&
         run.signal_number() == 0;
}

// A peak differs a little from run to run, so it gets a fiftieth and the rest
// of its MiB.
int64_t BudgetFor(int64_t peak_bytes) {
  return (peak_bytes + peak_bytes / 50 + kMiB - 1) / kMiB * kMiB;
}

std::string EndText(const TrialRun& run) {
  if (run.is_timed_out()) return "did not end in its time";
  if (run.signal_number() != 0) {
    return absl::StrCat("was ended by signal ", run.signal_number());
  }
  return absl::StrCat("ended with status ", run.exit_status());
}

// One bundle's trial, step by step; each sets the verdict if it decides.
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
    // No threshold makes a rejection an acceptance.
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

  absl::Status Unpack() {
    std::string path = request_.bundle_path();
    struct stat about = {};
    if (stat(path.c_str(), &about) != 0) {
      return FileError(errno, path, "cannot be read");
    }
    BundleLimits limits = LimitsOf(request_);
    limits.is_stopped = is_stopped_;
    absl::Status status;
    if (S_ISDIR(about.st_mode)) {
      status = MakeBundle(path, folder_.Path("archive"));
      path = folder_.Path("archive");
    }
    if (status.ok()) status = ReadBundle(path, limits).status();
    if (absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status)) {
      Decide(BAD_BUNDLE, EscapeForProto(status.message()), &result_);
      return absl::OkStatus();
    }
    if (!status.ok()) return status;
    absl::StatusOr<BundleManifest> manifest =
        UnpackBundle(path, folder_.Path("bundle"), limits);
    if (!manifest.ok()) return manifest.status();
    *result_.mutable_manifest() = *std::move(manifest);
    if (result_.manifest().kind() == BundleManifest::LOWMEM_CHECKPOINT &&
        request_.lowmem_program().empty()) {
      Decide(BAD_BUNDLE,
             "this host has no lowmem program for checkpoints; send a native "
             "program",
             &result_);
    }
    return absl::OkStatus();
  }

  // Decides where the manifest names a device that is not in the fleet.
  int64_t BudgetOfManifest() {
    const BundleManifest& manifest = result_.manifest();
    if (manifest.device().empty()) return manifest.budget_bytes();
    for (const DeviceBudget& each : request_.devices()) {
      if (each.device() != manifest.device()) continue;
      return manifest.budget_bytes() > 0
                 ? std::min(manifest.budget_bytes(), each.budget_bytes())
                 : each.budget_bytes();
    }
    RejectDevice(manifest.device());
    return 0;
  }

  void RejectDevice(const std::string& device) {
    std::vector<std::string> known;
    for (const DeviceBudget& each : request_.devices()) {
      known.push_back(each.device());
    }
    Decide(BAD_BUNDLE,
           absl::StrCat("the manifest names the device '",
                        EscapeForProto(device), "', and ",
                        known.empty() ? "no fleet file is given here"
                                      : "the fleet here has ",
                        absl::StrJoin(known, ", "), DidYouMean(device, known),
                        "; correct it, give budget_bytes instead, or have the "
                        "device added to the file of --fleet"),
           &result_);
  }

  void SetLimits() {
    const BundleManifest& manifest = result_.manifest();
    budget_bytes_ = request_.budget_bytes() > 0 ? request_.budget_bytes()
                                                : BudgetOfManifest();
    result_.set_budget_bytes(budget_bytes_);
    time_limit_seconds_ = request_.time_limit_seconds() > 0
                              ? request_.time_limit_seconds()
                              : kDefaultTimeLimitSeconds;
    if (manifest.time_limit_seconds() > 0) {
      time_limit_seconds_ =
          std::min(time_limit_seconds_, manifest.time_limit_seconds());
    }
    // No run gets more than there is, whatever the budget; so nothing
    // overflows.
    const int64_t room_bytes = admission_.total_bytes();
    measuring_limit_bytes_ = request_.measuring_limit_bytes();
    if (measuring_limit_bytes_ <= 0) {
      measuring_limit_bytes_ =
          budget_bytes_ > 0
              ? 2 * std::min(budget_bytes_, room_bytes) + 64 * kMiB
              : kMeasuringLimitWithoutBudget;
    }
    measuring_limit_bytes_ = std::min(measuring_limit_bytes_, room_bytes);
  }

  SandboxRun MakeRun(int64_t limit_bytes) const {
    const BundleManifest& manifest = result_.manifest();
    SandboxRun run;
    run.bundle_folder = folder_.Path("bundle");
    switch (manifest.kind()) {
      case BundleManifest::PYTHON_SCRIPT:
        run.program = "/usr/bin/python3";
        run.arguments = {"python3", manifest.entry()};
        break;
      case BundleManifest::LOWMEM_CHECKPOINT: {
        const size_t slash = manifest.entry().rfind('/');
        run.program = "/runner";
        run.runner = request_.lowmem_program();
        run.arguments = {"lowmem_run", slash == std::string::npos
                                           ? "."
                                           : manifest.entry().substr(0, slash)};
        break;
      }
      default:
        run.program = absl::StrCat("/bundle/", manifest.entry());
        run.arguments = {manifest.entry()};
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
    run.limit_bytes = std::max(std::min(limit_bytes, admission_.total_bytes()),
                               kLeastLimitBytes);
    run.scratch_bytes = request_.scratch_bytes() > 0 ? request_.scratch_bytes()
                                                     : kDefaultScratchBytes;
    run.process_limit = request_.process_limit() > 0 ? request_.process_limit()
                                                     : kDefaultProcessLimit;
    run.time_limit_seconds = time_limit_seconds_;
    return run;
  }

  // Null: the bundle is at fault, and the verdict set.
  absl::StatusOr<const TrialRun*> RunOnce(const SandboxRoot& root,
                                          TrialRun::Purpose purpose,
                                          const SandboxRun& run) {
    const absl::Status evicted = EvictFiles(folder_.Path("bundle"));
    if (!evicted.ok()) return evicted;
    const MemoryAdmission::Share share = admission_.Await(run.limit_bytes);
    const absl::StatusOr<SandboxEnd> end = RunInSandbox(root, run);
    if (absl::IsInvalidArgument(end.status())) {
      Decide(BAD_BUNDLE,
             absl::StrCat("'", EscapeForProto(result_.manifest().entry()),
                          "' cannot be executed: ", end.status().message(),
                          "; mark it executable, and begin a script with #!"),
             &result_);
      return nullptr;
    }
    if (!end.ok()) return end.status();
    TrialRun* const trial_run = result_.add_runs();
    trial_run->set_purpose(purpose);
    trial_run->set_limit_bytes(run.limit_bytes);
    trial_run->set_peak_bytes(end->peak_bytes);
    trial_run->set_peak_resident_bytes(end->peak_resident_bytes);
    trial_run->set_peak_proportional_bytes(end->peak_proportional_bytes);
    trial_run->set_is_out_of_memory(end->killed_process_count > 0);
    trial_run->set_limit_hit_count(end->limit_hit_count);
    trial_run->set_is_timed_out(end->is_timed_out);
    trial_run->set_exit_status(end->exit_status);
    trial_run->set_signal_number(end->signal_number);
    trial_run->set_wall_time_ns(end->program_time_ns);
    trial_run->set_processor_time_ns(end->processor_time_ns);
    trial_run->set_sandbox_time_ns(end->sandbox_time_ns);
    trial_run->set_standard_output_tail(
        EscapeForProto(end->standard_output_tail));
    trial_run->set_standard_error_tail(
        EscapeForProto(end->standard_error_tail));
    return trial_run;
  }

  void NotePeak(const TrialRun& run) {
    if (PeakOf(run) <= result_.whole_process_peak_bytes()) return;
    result_.set_whole_process_peak_bytes(PeakOf(run));
    result_.set_peak_source(NamePeak(run));
  }

  // True: a run was killed where its limit says nothing about the budget.
  bool IsWithoutRoom(const TrialRun& run) {
    if (IsKilledByHost(run)) {
      Decide(HOST_OUT_OF_MEMORY,
             absl::StrCat("the program was killed for want of memory at ",
                          FormatBytes(run.peak_bytes()),
                          ", below the limit of its run of ",
                          FormatBytes(run.limit_bytes()),
                          ": this host had no more; try it again when less "
                          "runs here"),
             &result_);
      return true;
    }
    const bool is_capped =
        run.limit_bytes() == admission_.total_bytes() &&
        (budget_bytes_ <= 0 || run.limit_bytes() < budget_bytes_);
    if (!is_capped || EndedWell(run) ||
        (!run.is_out_of_memory() && run.limit_hit_count() == 0)) {
      return false;
    }
    Decide(HOST_OUT_OF_MEMORY,
           absl::StrCat(
               "needs more than ", FormatBytes(run.limit_bytes()),
               ", which is all that this host has for a run; ",
               budget_bytes_ > 0
                   ? absl::StrCat("the budget is ", FormatBytes(budget_bytes_),
                                  "; try it on a larger host")
                   : "try it on a larger host"),
           &result_);
    return true;
  }

  // True: the peak decides.
  bool RejectPeak() {
    const int64_t peak = result_.whole_process_peak_bytes();
    if (budget_bytes_ <= 0 || peak <= budget_bytes_) return false;
    result_.set_excess_bytes(peak - budget_bytes_);
    Decide(
        PEAK_ABOVE_BUDGET,
        absl::StrCat("needs ", FormatBytes(peak), ", ",
                     FormatBytes(peak - budget_bytes_), " above the budget of ",
                     FormatBytes(budget_bytes_),
                     "; budget_bytes: ", BudgetFor(peak), " has room for it"),
        &result_);
    return true;
  }

  // Files of the host's that nobody had read lately count where the program
  // reads them, as page cache. So where the cgroup had more than the largest
  // process, the run is made again, and the lower peak counts; the bundle's own
  // files are read from the disk in both.
  absl::StatusOr<const TrialRun*> MeasureWarm(const SandboxRoot& root) {
    const SandboxRun run = MakeRun(measuring_limit_bytes_);
    absl::StatusOr<const TrialRun*> first =
        RunOnce(root, TrialRun::MEASURE, run);
    if (!first.ok() || *first == nullptr || !EndedWell(**first) ||
        (*first)->peak_bytes() <= (*first)->peak_resident_bytes()) {
      return first;
    }
    const int64_t first_peak_bytes = PeakOf(**first);
    absl::StatusOr<const TrialRun*> second =
        RunOnce(root, TrialRun::MEASURE, run);
    if (!second.ok() || *second == nullptr || !EndedWell(**second) ||
        PeakOf(**second) <= first_peak_bytes) {
      return second;
    }
    return &result_.runs(0);
  }

  absl::Status Measure(const SandboxRoot& root) {
    absl::StatusOr<const TrialRun*> done = MeasureWarm(root);
    if (!done.ok()) return done.status();
    if (*done == nullptr) return absl::OkStatus();
    const TrialRun& run = **done;
    NotePeak(run);
    if (IsWithoutRoom(run)) return absl::OkStatus();
    if (run.is_out_of_memory()) {
      result_.set_excess_bytes(
          std::max<int64_t>(0, run.peak_bytes() - budget_bytes_));
      Decide(OUT_OF_MEMORY_UNDER_LIMIT,
             absl::StrCat("needs more than ", FormatBytes(run.limit_bytes()),
                          ", where it was measured",
                          budget_bytes_ > 0
                              ? absl::StrCat("; the budget is ",
                                             FormatBytes(budget_bytes_))
                              : ""),
             &result_);
    } else if (RejectPeak()) {
      return absl::OkStatus();
    } else if (run.is_timed_out()) {
      Decide(TIMED_OUT,
             absl::StrCat("did not end in ", time_limit_seconds_,
                          " s; its peak until then was ",
                          FormatBytes(PeakOf(run))),
             &result_);
    } else if (!EndedWell(run)) {
      Decide(PROGRAM_FAILED,
             absl::StrCat("the program ", EndText(run),
                          ", so its peak is not known"),
             &result_);
    } else if (budget_bytes_ <= 0) {
      Decide(NO_BUDGET,
             absl::StrCat("needs ", FormatBytes(PeakOf(run)),
                          "; no budget is given: write budget_bytes into the "
                          "manifest"),
             &result_);
    }
    return absl::OkStatus();
  }

  absl::Status Prove(const SandboxRoot& root) {
    absl::StatusOr<const TrialRun*> done =
        RunOnce(root, TrialRun::PROVE, MakeRun(budget_bytes_));
    if (!done.ok()) return done.status();
    if (*done == nullptr) return absl::OkStatus();
    const TrialRun& run = **done;
    NotePeak(run);
    if (IsWithoutRoom(run)) return absl::OkStatus();
    if (run.is_out_of_memory() ||
        (!EndedWell(run) && run.limit_hit_count() > 0)) {
      Decide(OUT_OF_MEMORY_UNDER_LIMIT,
             absl::StrCat("under the limit of ", FormatBytes(budget_bytes_),
                          " the program ", EndText(run),
                          run.is_out_of_memory() ? ", out of memory" : ""),
             &result_);
    } else if (RejectPeak()) {
      return absl::OkStatus();
    } else if (!EndedWell(run)) {
      Decide(RUNS_DIFFER,
             absl::StrCat("the second run ", EndText(run),
                          ", for no reason that its limit gives"),
             &result_);
    } else {
      Decide(FITS,
             absl::StrCat("needs ",
                          FormatBytes(result_.whole_process_peak_bytes()),
                          " of the budget of ", FormatBytes(budget_bytes_),
                          ", and ran under it"),
             &result_);
    }
    return absl::OkStatus();
  }

  // Under the profiler; whatever comes of it changes no verdict.
  absl::Status Explain(const SandboxRoot& root) {
    SandboxRun run = MakeRun(measuring_limit_bytes_ + kProfilerBytes);
    run.scratch_bytes = std::max(run.scratch_bytes, kProfilerBytes);
    run.time_limit_seconds *= kProfilerTimes;
    // A threshold judges each byte; an explanation needs the largest sites.
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
      result_.set_reason(absl::StrCat(result_.reason(),
                                      "; its heap's peak is "
                                      "in the stage '",
                                      result_.peak_stage(), "'"));
    }
    return absl::OkStatus();
  }

  // The reason why the profile cannot stand for the program; empty: it can. The
  // program runs once more, without the profiler, where it may have only what
  // the recorded heap explains.
  absl::StatusOr<std::string> DoubtProfile(const SandboxRoot& root,
                                           const Verdict& verdict) {
    const TrialRun& profiled = result_.runs(result_.runs_size() - 1);
    if (profiled.purpose() != TrialRun::EXPLAIN || !EndedWell(profiled)) {
      return absl::StrCat("the profiled run ", EndText(profiled));
    }
    const int64_t limit_bytes =
        ComputeMostExplainedBytes(result_.profile(), verdict);
    const int64_t measured_bytes = result_.whole_process_peak_bytes();
    if (std::min(measured_bytes, budget_bytes_) <= limit_bytes) return "";
    absl::StatusOr<const TrialRun*> done =
        RunOnce(root, TrialRun::PROVE_HEAP, MakeRun(limit_bytes));
    if (!done.ok()) return done.status();
    if (*done != nullptr && EndedWell(**done)) return "";
    return absl::StrCat(
        "the heap that the profiler recorded, ",
        FormatBytes(result_.heap_peak_bytes()), ", does not explain the ",
        FormatBytes(measured_bytes),
        " that were measured: without the profiler the program needs more "
        "than ",
        FormatBytes(limit_bytes),
        "; judge PEAK_RESIDENT_BYTES, or PEAK_MAPPED_BYTES besides");
  }

  absl::Status JudgeByThresholds(const SandboxRoot& root) {
    if (request_.threshold_paths().empty() || result_.runs().empty()) {
      return absl::OkStatus();
    }
    std::vector<ThresholdSource> thresholds;
    for (const std::string& path : request_.threshold_paths()) {
      const absl::StatusOr<std::string> text = ReadWholeFile(path);
      if (!text.ok()) return text.status();
      thresholds.push_back(ParseThresholdFile(path, *text));
    }
    Verdict verdict =
        Evaluate({ProfileToJudge(result_)}, thresholds, EvaluationOptions());
    std::string doubt;
    if (result_.cause() == FITS && verdict.decision() == ACCEPT &&
        IsHeapJudged(verdict)) {
      const absl::StatusOr<std::string> found = DoubtProfile(root, verdict);
      if (!found.ok()) return found.status();
      doubt = *found;
    }
    if (!doubt.empty()) {
      verdict.set_decision(INCONCLUSIVE);
      Problem* const problem = verdict.add_problems();
      problem->set_decision(INCONCLUSIVE);
      problem->set_location(result_.manifest().entry());
      problem->set_message(doubt);
    }
    by_thresholds_ = verdict;
    DecideByThresholds(doubt);
    return absl::OkStatus();
  }

  void DecideByThresholds(const std::string& doubt) {
    const Decision decision = by_thresholds_.decision();
    if (result_.cause() != FITS || decision == ACCEPT) return;
    const bool is_rejected = decision == REJECT;
    Decide(
        is_rejected ? THRESHOLD_REJECTED : THRESHOLD_INCONCLUSIVE,
        absl::StrCat("fits the budget, but a threshold gives ",
                     Decision_Name(decision), doubt.empty() ? "" : ": ", doubt),
        &result_);
  }

  const TrialRequest& request_;
  MemoryAdmission& admission_;
  const std::function<bool()>& is_stopped_;
  const std::function<void(const TrialResult&)>& on_decided_;
  TemporaryFolder folder_;
  TrialResult result_;
  Verdict by_thresholds_;
  int64_t budget_bytes_ = 0;
  int64_t measuring_limit_bytes_ = 0;
  int time_limit_seconds_ = 0;
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
