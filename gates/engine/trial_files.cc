#include "footprint/gates/engine/trial_files.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/files/sealed_proto_file.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/server/hmac_sha256.h"

namespace footprint {
namespace {

constexpr SealedProtoFormat kOrderFormat = {
    "trial order", /*schema_version=*/1,
    "have the server write it again, on a disk that both machines see"};
constexpr SealedProtoFormat kReplyFormat = {
    "trial result", /*schema_version=*/1, "run the trial again"};

// A signature of the same key for another purpose, such as a webhook's, is none
// for a reply.
std::string SignedText(absl::string_view reply) {
  return absl::StrCat("footprint trial reply\n", reply);
}

absl::StatusOr<std::string> HashFile(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  return Sha256Hex(*bytes);
}

}  // namespace

absl::StatusOr<std::string> WriteTrialOrder(const TrialOrder& order,
                                            const std::string& path) {
  const absl::Status status = WriteSealedProto(kOrderFormat, order, path);
  if (!status.ok()) return status;
  return HashFile(path);
}

absl::StatusOr<OrderedTrial> ReadTrialOrder(const std::string& path) {
  OrderedTrial ordered;
  const absl::Status status =
      ReadSealedProto(kOrderFormat, path, &ordered.order);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> sha256 = HashFile(path);
  if (!sha256.ok()) return sha256.status();
  ordered.sha256 = *std::move(sha256);
  return ordered;
}

absl::Status WriteTrialReply(const TrialReply& reply, absl::string_view key,
                             const std::string& path) {
  SignedTrialReply file;
  file.set_reply(reply.SerializeAsString());
  file.set_signature(HmacSha256Hex(key, SignedText(file.reply())));
  return WriteSealedProto(kReplyFormat, file, path);
}

absl::StatusOr<TrialReply> ReadTrialReply(const std::string& path,
                                          absl::string_view key,
                                          const OrderedTrial& ordered) {
  SignedTrialReply file;
  const absl::Status status = ReadSealedProto(kReplyFormat, path, &file);
  if (!status.ok()) return status;
  if (!HasHmacSha256(key, SignedText(file.reply()), file.signature())) {
    return absl::PermissionDeniedError(absl::StrCat(
        path,
        ": the result's signature is wrong; give `serve --engine_key` and `try "
        "--key` the same key"));
  }
  TrialReply reply;
  if (!reply.ParseFromString(file.reply())) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": the result cannot be parsed; install the same "
                     "release here and on the other machine"));
  }
  if (reply.attempt() != ordered.order.attempt() ||
      reply.order_sha256() != ordered.sha256) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the result is of another trial, '",
                     EscapeForProto(reply.attempt()), "' in place of '",
                     ordered.order.attempt(),
                     "'; see that the engine runs each trial with "
                     "its own {order} and {result}"));
  }
  if (reply.bundle_sha256() != ordered.order.bundle_sha256()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": another bundle was tried (",
        reply.bundle_sha256().empty() ? "none"
                                      : EscapeForProto(reply.bundle_sha256()),
        reply.error_message().empty() ? "" : ": ",
        EscapeForProto(reply.error_message()),
        "); see that the engine hands over {bundle} unchanged"));
  }
  return reply;
}

}  // namespace footprint
