#include "footprint/gates/engine/try_order.h"

#include <sys/utsname.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/hashed_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/sandbox/host.h"
#include "footprint/gates/trials/run_trial.h"
#include "footprint/gates/trials/trial_verdict.h"
#include "footprint/gates/trials/work_folder.h"

namespace footprint {
namespace {

absl::StatusOr<TrialResult> Run(const TrialOrder& order,
                                const LocalTrial& local, TrialReply* reply) {
  const absl::StatusOr<HashedFile> bundle = OpenHashedFile(local.bundle_path);
  if (!bundle.ok()) return bundle.status();
  reply->set_bundle_sha256(bundle->sha256);
  if (bundle->sha256 != order.bundle_sha256()) {
    return absl::DataLossError(
        absl::StrCat(local.bundle_path, ": is not the ordered bundle"));
  }
  if (order.judge_version() != kJudgeVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server judges by version ", order.judge_version(),
                     " of the rules, and the `try` here by version ",
                     kJudgeVersion, "; install the same release on both"));
  }
  WorkFolder work;
  const absl::Status status = work.Create(local.work_folder);
  if (!status.ok()) return status;
  TrialRequest request = order.request();
  // The file that was hashed, even if its name has another one by now.
  request.set_bundle_path(absl::StrCat("/proc/self/fd/", bundle->file.get()));
  request.set_work_folder(work.path());
  request.set_lowmem_program(local.lowmem_program);
  return RunTrial(request);
}

}  // namespace

TrialReply TryOrder(const OrderedTrial& ordered, const LocalTrial& local) {
  TrialReply reply;
  reply.set_attempt(ordered.order.attempt());
  reply.set_order_sha256(ordered.sha256);
  utsname names = {};
  uname(&names);
  reply.set_host_name(EscapeForProto(names.nodename));
  reply.set_environment(EscapeForProto(HostText(DescribeHost())));
  const absl::StatusOr<TrialResult> result = Run(ordered.order, local, &reply);
  if (result.ok()) {
    *reply.mutable_result() = MakeStoredResult(*result);
  } else {
    reply.set_error_code(static_cast<int>(result.status().code()));
    reply.set_error_message(EscapeForProto(result.status().message()));
  }
  return reply;
}

StoredResult MakeStoredResult(const TrialResult& result) {
  StoredResult stored;
  stored.set_deployment(LabelOfBundle(result.manifest()));
  *stored.mutable_verdict() = result.verdict();
  if (result.has_profile()) *stored.mutable_profile() = result.profile();
  return stored;
}

}  // namespace footprint
