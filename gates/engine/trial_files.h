// Writes and reads the files by which a server has a program on another machine
// run a trial.
//
//   // The server:
//   absl::StatusOr<std::string> sha256 = WriteTrialOrder(order, "work/order");
//   // The other machine:
//   absl::StatusOr<OrderedTrial> ordered = ReadTrialOrder("work/order");
//   reply.set_attempt(ordered->order.attempt());
//   reply.set_order_sha256(ordered->sha256);
//   absl::Status status = WriteTrialReply(reply, key, "work/result");
//   // The server:
//   absl::StatusOr<TrialReply> reply =
//       ReadTrialReply("work/result", key, {order, *sha256});
//
// A reply is signed by a key that both sides have. It names its order, the hash
// of the order's fields and that of the bundle's bytes, so a server takes no
// reply that is cut short, doubled, forged, or to another order. The order is
// not signed: whoever changes it gets a reply that the server refuses.
//
// Thread-safe, since it keeps no state. Memory: some times a file's bytes.
// Time: linear. Each file appears as a whole (sealed_proto_file.h).

#ifndef FOOTPRINT_GATES_ENGINE_TRIAL_FILES_H_
#define FOOTPRINT_GATES_ENGINE_TRIAL_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/engine/trial_files.pb.h"

namespace footprint {

struct OrderedTrial {
  TrialOrder order;
  // SHA-256 of the order's fields, without those that seal its file.
  std::string sha256;
};

// Writes an order. Returns its SHA-256, or the errors of WriteSealedProto.
absl::StatusOr<std::string> WriteTrialOrder(const TrialOrder& order,
                                            const std::string& path);

// Returns the errors of ReadSealedProto.
absl::StatusOr<OrderedTrial> ReadTrialOrder(const std::string& path);

// Signs and writes a reply. Returns the errors of WriteSealedProto.
absl::Status WriteTrialReply(const TrialReply& reply, absl::string_view key,
                             const std::string& path);

// Reads the reply to `ordered`. Returns PermissionDenied if the signature is
// wrong, InvalidArgument if the reply is to another order, has neither a
// verdict nor an error, or the trial was that of another bundle, and the errors
// of ReadSealedProto, such as NotFound if there is no reply.
absl::StatusOr<TrialReply> ReadTrialReply(const std::string& path,
                                          absl::string_view key,
                                          const OrderedTrial& ordered);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_ENGINE_TRIAL_FILES_H_
