// Packs a folder with a manifest into a bundle, which is an archive file, and
// unpacks bundles from senders who may be hostile.
//
//   absl::Status status = MakeBundle("model_folder", "model.bundle");
//   absl::StatusOr<BundleManifest> manifest =
//       UnpackBundle("model.bundle", "/run/trial/bundle", BundleLimits());
//
// The same folder gives the same bytes with the same version of libzstd:
// entries are sorted, times and owners are left out, and modes are 0644 or
// 0755. UnpackBundle reads tar archives, plain or compressed by gzip or zstd.
//
// A bundle is refused as a whole for links of any kind, devices, pipes and
// sockets; for names that are absolute, contain ".", "..", an empty part or a
// control character, or occur twice, also as a file and a folder; for more
// files and folders, bytes, depth or time than the limits allow; for a
// compression bomb; for an archive that ends early (without its end mark, or
// inside its compressed bytes) or has bytes after its end; and for a manifest
// that is missing, repeated, malformed, not UTF-8 or larger than 64 KiB.
// Set-user-ID bits, owners, access lists and times are dropped.
//
// Thread-safe. The caller owns the unpacked files. Memory: 1 MiB, the names,
// and zstd's window of at most 128 MiB. Time: linear. Errors: kInvalidArgument,
// with the entry's name, if the bundle is at fault, also if a name is too long
// or too deep; kResourceExhausted if it exceeds another limit of BundleLimits;
// kAborted if this host's disk is full or it has no memory, which says nothing
// about the bundle; kCancelled if `is_stopped` returned true; kUnavailable if a
// file gets shorter while MakeBundle reads it or a read fails, or if a reader
// has no memory; kInternal if libarchive fails; else FileError's, also if
// MakeBundle cannot open a file.

#ifndef FOOTPRINT_GATES_BUNDLES_BUNDLE_H_
#define FOOTPRINT_GATES_BUNDLES_BUNDLE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/packing.h"

namespace footprint {

inline constexpr char kManifestName[] = "bundle.textproto";

// Parses a manifest. Returns kInvalidArgument with its mistakes. Pure function.
absl::StatusOr<BundleManifest> ParseManifest(absl::string_view text);

// Does the same for the manifest of an image, in which kind and entry may be
// missing. `name` begins the messages.
absl::StatusOr<BundleManifest> ParseImageManifest(absl::string_view text,
                                                  absl::string_view name);

// Writes the archive of all files below `folder` to `path`, in one step. Links
// are not followed but refused. Checks the manifest, that the files that it
// names exist, and that names, entries and the sizes of all files keep the
// limits, before it packs a byte. Leaves out empty folders.
absl::Status MakeBundle(const std::string& folder, const std::string& path,
                        const PackingOptions& options = {});

// Reads the archive to its end and writes nothing. Refuses everything that
// UnpackBundle refuses.
absl::StatusOr<BundleManifest> ReadBundle(const std::string& path,
                                          const BundleLimits& limits);

// Unpacks into `folder`, which must not exist and is made. After an error it is
// removed, unless it existed before.
absl::StatusOr<BundleManifest> UnpackBundle(const std::string& path,
                                            const std::string& folder,
                                            const BundleLimits& limits);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_BUNDLES_BUNDLE_H_
