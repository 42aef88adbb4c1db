// A place where bytes are kept by name: a folder, or a server that takes HTTP's
// PUT and GET, as servers of Bazel's remote cache and of S3 do.
//
//   absl::StatusOr<std::unique_ptr<ProfileStore>> store =
//       OpenProfileStore("http://cache.example.org:8080/footprint", token);
//   if (!store.ok()) return store.status();
//   absl::Status status = (*store)->Put("gates/4f0a.binpb", bytes);
//
// The first Put makes the folder, and each file is replaced in one step. If a
// server does not answer, or answers 429 or 5xx but not 507, the request is
// repeated once. A name must consist of letters, digits and "._-+" between
// slashes; the store does not check that.
//
// Thread-compatible. Memory: the bytes, of which a server may send 64 MiB in a
// minute for each Get. Errors: kNotFound if nothing has this
// name; kUnavailable if the server is down or overloaded; kResourceExhausted if
// the store is full; kPermissionDenied if the server refuses the token, or the
// folder cannot be made; kInvalidArgument if the server gives another answer.
// Other errors are those of base/files/whole_file.h.

#ifndef FOOTPRINT_GATES_TREND_PROFILE_STORE_H_
#define FOOTPRINT_GATES_TREND_PROFILE_STORE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

class ProfileStore {
 public:
  virtual ~ProfileStore() = default;

  // Returns the bytes under this name.
  virtual absl::StatusOr<std::string> Get(const std::string& name) = 0;
  // Replaces the bytes under this name.
  virtual absl::Status Put(const std::string& name,
                           absl::string_view bytes) = 0;
};

// Opens a store. `address` is "http://HOST:PORT/PATH", https:// if this build
// has TLS, or the path of a folder. A token that is not empty is sent as a
// bearer token. Returns kInvalidArgument for any other address, also an empty
// one, and kFailedPrecondition for https:// without TLS.
absl::StatusOr<std::unique_ptr<ProfileStore>> OpenProfileStore(
    const std::string& address, const std::string& token);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TREND_PROFILE_STORE_H_
