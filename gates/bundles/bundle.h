// Packs a folder with a manifest into a bundle, an archive file, and unpacks
// bundles from senders who may be hostile.
//
//   absl::Status status = MakeBundle("model_folder", "model.bundle");
//   absl::StatusOr<BundleManifest> manifest =
//       UnpackBundle("model.bundle", "/run/trial/bundle", BundleLimits());
//
// The same folder gives the same bytes with one version of libzstd: entries are
// sorted, times and owners left out, modes 0644 or 0755. Archives that are read
// may be tar, plain or compressed by gzip or zstd.
//
// Refused, whole: links of any kind, devices, pipes and sockets; names that are
// absolute, hold "..", an empty part or a control character, or come twice,
// also as a file and a folder; more files and folders, bytes, depth or time
// than the limits allow; a compression bomb; an archive that ends early,
// without its end mark or in its compressed bytes, or has bytes behind its end;
// no manifest, two, or a bad one, or one that is not UTF-8. Set-user-ID bits,
// owners, access lists and times are dropped.
//
// Thread-safe. Files unpacked are the caller's. Memory: 1 MiB and the names;
// a window of zstd's of at most 128 MiB. Time: linear. Errors:
// kInvalidArgument: the bundle is at fault, with the entry named;
// kResourceExhausted: a limit of BundleLimits; kUnavailable: this host's disk
// is full, which says nothing about the bundle; kCancelled: `is_stopped` said
// so; else FileError's.

#ifndef FOOTPRINT_GATES_BUNDLES_BUNDLE_H_
#define FOOTPRINT_GATES_BUNDLES_BUNDLE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/bundles/bundle.pb.h"

namespace footprint {

inline constexpr char kManifestName[] = "bundle.textproto";

struct BundleLimits {
  int64_t archive_bytes = int64_t{1} << 30;
  int64_t unpacked_bytes = int64_t{4} << 30;
  // Unpacked bytes for each of the archive's, beyond the first MiB.
  int64_t most_expansion = 200;
  // Files and folders, also those that only the names of others tell of.
  int64_t entries = 10000;
  int path_bytes = 512;
  int path_depth = 32;
  // The most time for all of it. An archive of many small pieces costs time,
  // not bytes.
  int seconds = 300;
  // Asked again and again; once it is true, the work ends. Empty: never.
  std::function<bool()> is_stopped;
};

// Every mistake of the manifest, or the manifest. Pure.
absl::StatusOr<BundleManifest> ParseManifest(absl::string_view text);

// Writes the archive of all files below `folder` to `path`, in one step. Links
// are an error, not followed. The manifest is parsed and what it names looked
// for.
absl::Status MakeBundle(const std::string& folder, const std::string& path);

// Reads the archive to its end, writes nothing: all that UnpackBundle refuses
// is refused.
absl::StatusOr<BundleManifest> ReadBundle(const std::string& path,
                                          const BundleLimits& limits);

// Into `folder`, which is made, and must not exist. After an error it is gone.
absl::StatusOr<BundleManifest> UnpackBundle(const std::string& path,
                                            const std::string& folder,
                                            const BundleLimits& limits);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_BUNDLES_BUNDLE_H_
