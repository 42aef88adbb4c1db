#include "footprint/gates/engine/trial_files.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/files/sealed_proto_file.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/server/hmac_sha256.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

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

// The hash of what was read and is followed, and not of the file, which
// somebody may replace before it is read again.
std::string HashOrder(TrialOrder order) {
  order.clear_schema_version();
  order.clear_complete();
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    order.SerializeToCodedStream(&coded);
  }
  return Sha256Hex(bytes);
}

}  // namespace

absl::StatusOr<std::string> WriteTrialOrder(const TrialOrder& order,
                                            const std::string& path) {
  const absl::Status status = WriteSealedProto(kOrderFormat, order, path);
  if (!status.ok()) return status;
  return HashOrder(order);
}

absl::StatusOr<OrderedTrial> ReadTrialOrder(const std::string& path) {
  OrderedTrial ordered;
  const absl::Status status =
      ReadSealedProto(kOrderFormat, path, &ordered.order);
  if (!status.ok()) return status;
  ordered.sha256 = HashOrder(ordered.order);
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
  if (reply.attempt() == ordered.order.attempt() &&
      reply.order_sha256() != ordered.sha256) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": the order was changed on its way; see that the engine "
                     "hands over {order} unchanged, and install the same "
                     "release here and on the other machine"));
  }
  if (reply.attempt() != ordered.order.attempt()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the result is of another trial, '",
                     EscapeForProto(reply.attempt()), "' in place of '",
                     ordered.order.attempt(),
                     "'; see that the engine runs each trial with "
                     "its own {order} and {result}"));
  }
  if (!reply.has_result() && reply.error_code() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": has neither a verdict nor an error; install the same "
                     "release here and on the other machine"));
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
