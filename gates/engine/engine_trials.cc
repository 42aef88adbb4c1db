#include "footprint/gates/engine/engine_trials.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/engine/engine_process.h"
#include "footprint/gates/engine/trial_files.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/trials/trial_needs.h"
#include "footprint/gates/trials/trial_verdict.h"

namespace footprint {
namespace {

constexpr absl::Duration kMostPause = absl::Minutes(10);
constexpr absl::Duration kMostFolderPause = absl::Minutes(1);
constexpr absl::Duration kLookTime = absl::Milliseconds(50);
constexpr size_t kMostWordsBytes = 300;

// Returns a name that no other attempt has, also of a server before this one.
// It suits names of Kubernetes: at most 33 digits, lower case letters and "-".
std::string MakeAttemptName(const std::string& trial) {
  std::random_device random;
  return absl::StrFormat("%s-%08x%08x", trial.substr(0, 16), random(),
                         random());
}

// Links the bundle into the attempt's folder, where other machines see it, or
// copies it from another disk.
absl::Status HandOver(const std::string& bundle, const std::string& to) {
  std::error_code error;
  std::filesystem::create_hard_link(bundle, to, error);
  if (!error) return absl::OkStatus();
  std::filesystem::copy_file(bundle, to, error);
  if (!error) return absl::OkStatus();
  return FileError(error.value(), to, "the bundle cannot be copied there");
}

// Returns the last line of the command's output, as the end of a sentence.
std::string LastWords(absl::string_view output) {
  const std::vector<absl::string_view> lines =
      absl::StrSplit(output, '\n', absl::SkipWhitespace());
  if (lines.empty()) return "";
  return absl::StrCat(
      "; its last words: ",
      EscapeForTerminal(lines.back().substr(0, kMostWordsBytes)));
}

std::string DescribeEnd(const EngineEnd& end, absl::Duration limit) {
  if (end.is_timed_out) {
    return absl::StrCat("did not end in ", absl::FormatDuration(limit),
                        " and was killed");
  }
  if (WIFSIGNALED(end.wait_status)) {
    return absl::StrCat("was killed by signal ", WTERMSIG(end.wait_status));
  }
  return absl::StrCat("ended with status ", WEXITSTATUS(end.wait_status));
}

// Returns what went wrong, if the command ended so and its result cannot be
// read.
std::string DescribeFailure(const EngineEnd& end, absl::Duration limit,
                            const absl::Status& result) {
  std::string text = absl::StrCat("the command ", DescribeEnd(end, limit));
  if (!absl::IsNotFound(result)) {
    absl::StrAppend(&text, ", and its result is refused: ", result.message());
  } else {
    absl::StrAppend(&text, ", and there is no result");
    const bool is_early = !end.is_timed_out && end.wait_status == 0;
    if (is_early) {
      absl::StrAppend(&text,
                      "; it must wait until the trial has ended, as srun and "
                      "`sbatch --wait` do");
    }
  }
  return absl::StrCat(text, LastWords(end.output_tail));
}

StoredResult Mismatch(const TrialReply& reply, const std::string& expected) {
  StoredResult result;
  result.set_deployment(reply.result().deployment());
  result.mutable_verdict()->set_decision(ENVIRONMENT_MISMATCH);
  Problem* const problem = result.mutable_verdict()->add_problems();
  problem->set_decision(ENVIRONMENT_MISMATCH);
  problem->set_location(result.deployment().empty() ? "bundle"
                                                    : result.deployment());
  problem->set_message(absl::StrCat(
      EscapeForTerminal(reply.host_name()), " is a host of another kind (",
      EscapeForTerminal(reply.environment()), ") than this server's verdicts (",
      EscapeForTerminal(expected),
      "); let the engine choose hosts of one kind, and give --engine_host the "
      "text that `try --host` prints there"));
  return result;
}

// Has the engine run one trial.
class EngineTrial {
 public:
  EngineTrial(const EngineOptions& options, const TrialToRun& to_run)
      : options_(options), to_run_(to_run) {}

  absl::StatusOr<StoredResult> Run() {
    const absl::Status prepared = Prepare();
    if (!prepared.ok()) return prepared;
    absl::Duration pause = options_.first_pause;
    for (int attempt = 1;; ++attempt) {
      to_run_.report_stage(absl::StrCat("given to the engine, attempt ",
                                        attempt, " of at most ",
                                        options_.most_attempts));
      std::string failure;
      const absl::StatusOr<absl::optional<TrialReply>> reply = Try(&failure);
      if (!reply.ok()) return reply.status();
      if (reply->has_value()) return Settle(**reply);
      if (options_.report) {
        options_.report(absl::StrCat("engine: trial ", to_run_.trial,
                                     ", attempt ", attempt, ": ", failure));
      }
      if (attempt >= options_.most_attempts) {
        return absl::UnavailableError(absl::StrCat(
            "the engine failed in ", attempt, " attempts; in the last, ",
            failure,
            "; look into its log, then submit the bundle with --again"));
      }
      if (!Pause(pause)) return absl::CancelledError("the server stops");
      pause = std::min(10 * pause, kMostPause);
    }
  }

 private:
  absl::Status Prepare() {
    request_ = options_.make_request(to_run_);
    request_.set_bundle_path(to_run_.bundle_path);
    const absl::StatusOr<TrialNeeds> needs =
        FindTrialNeeds(request_, to_run_.is_stopped);
    if (!needs.ok()) return needs.status();
    needs_ = *needs;
    request_.clear_bundle_path();
    request_.clear_work_folder();
    request_.clear_lowmem_program();
    return absl::OkStatus();
  }

  // Makes the folder of an attempt. If the disk that all machines see is gone,
  // waits until it is there again, which says nothing about the bundle.
  absl::Status MakeFolder(TemporaryFolder* folder) const {
    absl::Duration pause = options_.first_pause;
    while (true) {
      const absl::Status status =
          folder->Create(options_.folder, options_.prefix);
      if (status.ok() || absl::IsResourceExhausted(status)) return status;
      const std::string text =
          absl::StrCat("waiting for the engine's folder: ", status.message());
      to_run_.report_stage(text);
      if (options_.report) {
        options_.report(
            absl::StrCat("engine: trial ", to_run_.trial, ": ", text));
      }
      if (!Pause(pause)) return absl::CancelledError("the server stops");
      pause = std::min(10 * pause, kMostFolderPause);
    }
  }

  // Hands the trial over once. Returns its reply, or nullopt and sets `failure`
  // if the engine failed; an error if this server did, or stops.
  absl::StatusOr<absl::optional<TrialReply>> Try(std::string* failure) {
    TemporaryFolder folder;
    absl::Status status = MakeFolder(&folder);
    if (status.ok()) {
      status = HandOver(to_run_.bundle_path, folder.Path("bundle"));
    }
    if (!status.ok()) return status;
    OrderedTrial ordered;
    ordered.order.set_attempt(MakeAttemptName(to_run_.trial));
    ordered.order.set_bundle_sha256(to_run_.bundle_sha256);
    ordered.order.set_judge_version(kJudgeVersion);
    *ordered.order.mutable_request() = request_;
    absl::StatusOr<std::string> sha256 =
        WriteTrialOrder(ordered.order, folder.Path("order"));
    if (!sha256.ok()) return sha256.status();
    ordered.sha256 = *std::move(sha256);
    const absl::Duration limit =
        absl::Seconds(needs_.seconds) + options_.most_wait;
    const absl::StatusOr<EngineEnd> end = RunEngineProcess(
        Words(folder, ordered.order), limit, to_run_.is_stopped);
    if (absl::IsCancelled(end.status()) ||
        absl::IsResourceExhausted(end.status())) {
      return end.status();
    }
    if (!end.ok()) {
      *failure = std::string(end.status().message());
      return absl::optional<TrialReply>();
    }
    absl::StatusOr<TrialReply> reply =
        ReadTrialReply(folder.Path("result"), options_.key, ordered);
    if (reply.ok()) return absl::optional<TrialReply>(*std::move(reply));
    *failure = DescribeFailure(*end, limit, reply.status());
    return absl::optional<TrialReply>();
  }

  std::vector<std::string> Words(const TemporaryFolder& folder,
                                 const TrialOrder& order) const {
    constexpr int64_t kMiB = 1 << 20;
    return options_.command.Fill(
        {{"bundle", folder.Path("bundle")},
         {"limit", absl::StrCat((needs_.memory_bytes + kMiB - 1) / kMiB)},
         {"order", folder.Path("order")},
         {"result", folder.Path("result")},
         {"seconds", absl::StrCat(needs_.seconds)},
         {"trial", order.attempt()}});
  }

  absl::StatusOr<StoredResult> Settle(const TrialReply& reply) const {
    const std::string host = EscapeForTerminal(reply.host_name());
    if (reply.error_code() != 0) {
      const std::string text =
          absl::StrCat("on ", host, ": ", reply.error_message());
      switch (static_cast<absl::StatusCode>(reply.error_code())) {
        // The host has no room now.
        case absl::StatusCode::kResourceExhausted:
        case absl::StatusCode::kAborted:
          return absl::AbortedError(text);
        default:
          return absl::InternalError(text);
      }
    }
    if (reply.environment() != options_.environment) {
      return Mismatch(reply, options_.environment);
    }
    StoredResult result = reply.result();
    result.add_remarks(absl::StrCat("ran on ", host, ", by the engine"));
    return result;
  }

  // Returns false if the server stops meanwhile.
  bool Pause(absl::Duration duration) const {
    const absl::Time end = absl::Now() + duration;
    while (absl::Now() < end && !to_run_.is_stopped()) {
      absl::SleepFor(std::min(kLookTime, duration));
    }
    return !to_run_.is_stopped();
  }

  const EngineOptions& options_;
  const TrialToRun& to_run_;
  TrialRequest request_;
  TrialNeeds needs_;
};

}  // namespace

RunTrialFunction RunByEngine(EngineOptions options) {
  return [options = std::move(options)](const TrialToRun& to_run) {
    return EngineTrial(options, to_run).Run();
  };
}

}  // namespace footprint
