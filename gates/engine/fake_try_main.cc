// Writes a signed reply without trying anything, for tests of engines:
//
//   fake_try BUNDLE ORDER RESULT KEY_FILE ENVIRONMENT
//
// A bundle that begins with "reject" is rejected, and one that begins with
// "full" finds no room on this host the first time. The deployment is the
// bundle's content.

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/engine/trial_files.h"
#include "footprint/gates/server/hmac_sha256.h"

namespace footprint {
namespace {

absl::Status Answer(const std::string& bundle_path,
                    const std::string& order_path,
                    const std::string& result_path, const std::string& key_path,
                    const std::string& environment) {
  const absl::StatusOr<std::string> bundle = ReadWholeFile(bundle_path);
  if (!bundle.ok()) return bundle.status();
  const absl::StatusOr<OrderedTrial> ordered = ReadTrialOrder(order_path);
  if (!ordered.ok()) return ordered.status();
  const absl::StatusOr<std::string> key = ReadSigningKey(key_path);
  if (!key.ok()) return key.status();
  TrialReply reply;
  reply.set_attempt(ordered->order.attempt());
  reply.set_order_sha256(ordered->sha256);
  reply.set_bundle_sha256(Sha256Hex(*bundle));
  reply.set_host_name("fake");
  reply.set_environment(environment);
  if (absl::StartsWith(*bundle, "broken")) {
    reply.set_error_code(
        static_cast<int>(absl::StatusCode::kFailedPrecondition));
    reply.set_error_message("no cgroup");
  } else if (absl::StartsWith(*bundle, "full")) {
    reply.set_error_code(
        static_cast<int>(absl::StatusCode::kResourceExhausted));
    reply.set_error_message("no space left");
  } else {
    reply.mutable_result()->set_deployment(*bundle);
    reply.mutable_result()->mutable_verdict()->set_decision(
        absl::StartsWith(*bundle, "reject") ? REJECT : ACCEPT);
  }
  return WriteTrialReply(reply, *key, result_path);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const absl::Status status =
      footprint::Answer(argv[1], argv[2], argv[3], argv[4], argv[5]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "fake_try: %s\n", std::string(status.message()).c_str());
  return 2;
}
