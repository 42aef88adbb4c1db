// A place where bytes are kept by name: a folder, or a server that takes HTTP's
// PUT and GET, as servers of Bazel's remote cache and of S3 do.
//
//   absl::StatusOr<std::unique_ptr<ProfileStore>> store =
//       OpenProfileStore("http://cache.example.org:8080/footprint", token);
//   if (!store.ok()) return store.status();
//   absl::Status status = (*store)->Put("gates/4f0a.binpb", bytes);
//
// A folder is made by the first Put, and each file is replaced in one step. A
// server is asked again once where it does not answer. A name consists of
// letters, digits and "._-" between slashes; callers see to that.
//
// Thread-compatible. Memory: the bytes. Errors: kNotFound: nothing has this
// name. kUnavailable: the store is down or does not answer. kResourceExhausted:
// it is full. kPermissionDenied: it wants another token. Else those of
// base/files/whole_file.h.

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

  virtual absl::StatusOr<std::string> Get(const std::string& name) = 0;
  // Replaces what has this name.
  virtual absl::Status Put(const std::string& name,
                           absl::string_view bytes) = 0;
};

// `address` is "http://HOST:PORT/PATH", https:// where this build has TLS, or
// the path of a folder. The token, unless empty, is sent as a bearer.
// kInvalidArgument: no such address.
absl::StatusOr<std::unique_ptr<ProfileStore>> OpenProfileStore(
    const std::string& address, const std::string& token);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TREND_PROFILE_STORE_H_
