// Tries a bundle on this machine, without a server, and exits with the number
// of the decision.

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/commands/number_flags.h"
#include "footprint/gates/engine/trial_files.h"
#include "footprint/gates/engine/try_order.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/programs/device_budgets.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/server_folders.h"
#include "footprint/gates/programs/verdict_files.h"
#include "footprint/gates/sandbox/host.h"
#include "footprint/gates/server/hmac_sha256.h"
#include "footprint/gates/trials/run_trial.h"
#include "footprint/gates/trials/trial.pb.h"
#include "footprint/gates/trials/work_folder.h"

namespace footprint {
namespace {

constexpr char kProgram[] = "try";

constexpr char kHelp[] =
    R"(Runs a bundle in a sandbox and says whether it fits its budget.

  bazel run //gates:try -- FOLDER_OR_BUNDLE --budget=200MiB
  bazel run //gates:try -- IMAGE[@sha256:HEX] --budget=200MiB
  try --bundle=FILE --order=FILE --result=FILE --key=FILE

A bundle is a folder, or an archive of one. Its bundle.textproto names the
program to run; gates/bundles/bundle.proto has an example. The program runs in
three ways, each time in a new sandbox: unchanged and measured from outside,
unchanged and limited to the budget, and under the profiler, which explains the
figures. A threshold on the heap accepts only if the recorded heap explains the
measured memory.

An image is a folder or archive of the OCI image layout, such as umoci, skopeo
and `docker save` (from version 25) write it. It is the root of the sandbox, so
its own Python, packages and C library are what is measured. Entrypoint, Cmd, Env
and WorkingDir say how it is run, unless its label org.footprint.bundle, which
has a manifest, says otherwise. A digest chooses one of several manifests.

The last form is for the command of `serve --engine`: it runs the trial that a
server orders, and writes a signed result. It takes no other flag but --lowmem.

Flags
  --budget=SIZE          the most memory that the whole process may take, such
                         as 200MiB (default: the manifest's budget)
  --fleet=FILE           a file of devices, as `fit` reads it. If the manifest
                         names one, the budget is its RAM less its reserve
  --thresholds=FILE      a threshold file that judges the bundle too; may be
                         repeated
  --time_limit=SECONDS   the longest that each run may take (default: 60); a
                         shorter limit of the manifest holds
  --most_bundle=SIZE     the size of the largest bundle (default: 1GiB), as for
                         `serve`
  --lowmem=PROGRAM       the program that runs checkpoints
  --unexplained          skip the run under the profiler
  --format=FORMAT        the format of the verdict (default: text); `check
                         --help` lists all formats
  --output=FILE          the file to write (default: standard output)
  --write=FORMAT:FILE    also write this format to the file; may be repeated
  --host                 list the sandbox mechanisms that this host has
  --order=FILE           the server's order: the {order} of --engine
  --bundle=FILE          for --order: the bundle, {bundle}
  --result=FILE          for --order: the file to write, {result}
  --key=FILE             for --order: the key that signs the result, as given to
                         `serve --engine_key`
  --help                 print this text

Exit status
  0 ACCEPT               the program fits its budget, and ran under it
  1 REJECT               it needs more, or it exceeds a threshold
  2 BAD_CONFIGURATION    the bundle or a flag is wrong, or there is no budget
  3 PRODUCER_FAILED      the program failed, or did not end in time
  4 INCONCLUSIVE         the runs differ, or this host has too little memory
  5 ENVIRONMENT_MISMATCH the thresholds are for other environments only
With --order the status is 0 if a result was written, whatever the decision, and
2 otherwise, so that a scheduler repeats only jobs that gave no result.
)";

// Prints the decision before the profiled run, which takes several times as
// long.
void PrintDecision(const TrialResult& result) {
  std::fprintf(stderr, "%s: %s, %s; the profiler explains it now\n", kProgram,
               std::string(Decision_Name(result.verdict().decision())).c_str(),
               EscapeForTerminal(result.reason()).c_str());
}

// Runs the trial in a folder that is removed.
absl::StatusOr<TrialResult> RunHere(TrialRequest request) {
  WorkFolder work;
  const absl::Status status = work.Create(TemporaryFolderParent());
  if (!status.ok()) return status;
  request.set_work_folder(work.path());
  TrialSurroundings surroundings;
  if (!request.is_unexplained()) surroundings.on_decided = PrintDecision;
  return RunTrial(request, surroundings);
}

// Returns what else the page of a verdict needs: the profile, and the
// thresholds that judged it.
GateInput MakeInput(const TrialRequest& request, const TrialResult& result) {
  GateInput input;
  if (result.has_profile()) input.profiles.push_back(result.profile());
  for (const std::string& path : request.threshold_paths()) {
    const absl::StatusOr<std::string> text = ReadWholeFile(path);
    if (text.ok()) input.thresholds.push_back(ParseThresholdFile(path, *text));
  }
  return input;
}

const std::vector<std::string>& OrderFlags() {
  static const auto* const flags =
      new std::vector<std::string>({"bundle", "order", "result", "key"});
  return *flags;
}

absl::Status CheckOrderFlags(const CommandFlags& flags,
                             const std::vector<std::string>& arguments) {
  for (const std::string& name : OrderFlags()) {
    if (!flags.Value(name, "").empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--bundle, --order, --result and --key go together; give --", name,
        " a file"));
  }
  if (arguments.size() == OrderFlags().size() + (flags.Has("lowmem") ? 1 : 0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "with --order, the server says all but --lowmem; remove the other flags "
      "here, or give them to `serve`");
}

// Runs the trial of a server's order, and writes the result.
absl::Status RunOrder(const CommandFlags& flags,
                      const std::vector<std::string>& arguments) {
  absl::Status status = CheckOrderFlags(flags, arguments);
  if (!status.ok()) return status;
  const std::string result_path = PathOfCaller(flags.Value("result", ""));
  if (access(result_path.c_str(), F_OK) == 0) {
    return absl::AlreadyExistsError(absl::StrCat(
        result_path, ": the order has a result already; it is not run again"));
  }
  status = CheckReplaceable(result_path);
  if (!status.ok()) return status;
  const absl::StatusOr<std::string> key =
      ReadSigningKey(PathOfCaller(flags.Value("key", "")));
  if (!key.ok()) return key.status();
  const absl::StatusOr<OrderedTrial> ordered =
      ReadTrialOrder(PathOfCaller(flags.Value("order", "")));
  if (!ordered.ok()) return ordered.status();
  LocalTrial local;
  local.bundle_path = PathOfCaller(flags.Value("bundle", ""));
  local.work_folder = TemporaryFolderParent();
  const absl::StatusOr<std::string> lowmem =
      ProgramPath("--lowmem", flags.Value("lowmem", ""));
  if (!lowmem.ok()) return lowmem.status();
  local.lowmem_program = *lowmem;
  const TrialReply reply = TryOrder(*ordered, local);
  std::fprintf(
      stderr, "%s: %s: %s\n", kProgram, ordered->order.attempt().c_str(),
      reply.has_result()
          ? std::string(Decision_Name(reply.result().verdict().decision()))
                .c_str()
          : reply.error_message().c_str());
  return WriteTrialReply(reply, *key, result_path);
}

// Returns the request for the trial that the flags ask for. The command line
// must name a bundle.
absl::StatusOr<TrialRequest> MakeRequest(const CommandFlags& flags) {
  TrialRequest request;
  request.set_bundle_path(PathOfCaller(flags.words()[0]));
  request.set_is_unexplained(flags.Has("unexplained"));
  const absl::StatusOr<std::string> lowmem =
      ProgramPath("--lowmem", flags.Value("lowmem", ""));
  if (!lowmem.ok()) return lowmem.status();
  request.set_lowmem_program(*lowmem);
  int64_t budget_bytes = 0;
  int64_t most_archive_bytes = 0;
  absl::Status status = SetBytesFlag(flags, "budget", &budget_bytes);
  status.Update(SetBytesFlag(flags, "most_bundle", &most_archive_bytes));
  if (!status.ok()) return status;
  request.set_budget_bytes(budget_bytes);
  request.set_most_archive_bytes(most_archive_bytes);
  for (const std::string& each : flags.Values("fleet")) {
    const absl::Status added = AddDeviceBudgets(PathOfCaller(each), &request);
    if (!added.ok()) return added;
  }
  int time_limit = 0;
  if (!absl::SimpleAtoi(flags.Value("time_limit", "0"), &time_limit)) {
    return absl::InvalidArgumentError(
        "--time_limit must be a number of seconds");
  }
  request.set_time_limit_seconds(time_limit);
  for (const std::string& each : flags.Values("thresholds")) {
    request.add_threshold_paths(PathOfCaller(each));
  }
  return request;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments,
      {"budget", "fleet", "thresholds", "time_limit", "most_bundle", "lowmem",
       "format", "output", "write", "bundle", "order", "result", "key"},
      {"unexplained", "host", "help"}, 1);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", ACCEPT);
  if (flags->Has("host")) {
    const HostDescription host = DescribeHost();
    return FinishProgram(kProgram, HostText(host), "",
                         host.missing.empty() ? ACCEPT : BAD_CONFIGURATION);
  }
  for (const std::string& name : OrderFlags()) {
    if (!flags->Has(name)) continue;
    const absl::Status status = RunOrder(*flags, arguments);
    return status.ok() ? 0 : Complain(kProgram, status.message());
  }
  // Checks the command line before the trial, which takes long.
  if (flags->words().empty()) {
    return Complain(kProgram,
                    "which bundle? Give a folder, an archive or an image");
  }
  const absl::Status format =
      CheckVerdictFormat(flags->Value("format", "text"));
  if (!format.ok()) return Complain(kProgram, format.message());
  const absl::StatusOr<std::vector<VerdictFile>> files =
      ParseVerdictFiles(flags->Values("write"));
  if (!files.ok()) return Complain(kProgram, files.status().message());
  const absl::StatusOr<TrialRequest> request = MakeRequest(*flags);
  if (!request.ok()) return Complain(kProgram, request.status().message());
  // Runs the trial and writes its verdict.
  const absl::StatusOr<TrialResult> result = RunHere(*request);
  if (!result.ok()) return Complain(kProgram, result.status().message());
  const absl::Status written = WriteVerdict(
      MakeInput(*request, *result), result->verdict(), *flags, *files, true);
  if (!written.ok()) return Complain(kProgram, written.message());
  return result->verdict().decision();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
