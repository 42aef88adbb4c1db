// Stores bundles on the disk, each under the hash of its bytes.
//
//   absl::StatusOr<BundleFolder> folder = BundleFolder::Open("store/bundles");
//   absl::StatusOr<BundleUpload> upload = folder->StartUpload(sha256, size);
//   absl::Status status = upload->Append(bytes);
//   if (status.ok()) status = upload->Finish();
//   std::string path = folder->MakePath(sha256);
//
// A file with its final name is complete: Finish compares the hash, flushes the
// file to the disk, renames it, and flushes the name. After that the file is
// never written again.
//
// Thread-safe; an upload is thread-compatible and may outlive the folder.
// Memory: 32 KiB for each upload, and 1 MiB while CopyTo runs. Time: that of
// the disk.

#ifndef FOOTPRINT_GATES_STORE_BUNDLE_FOLDER_H_
#define FOOTPRINT_GATES_STORE_BUNDLE_FOLDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/sha256.h"

namespace footprint {

// An upload in progress. Without Finish it leaves nothing behind.
class BundleUpload {
 public:
  // Appends bytes. Returns ResourceExhausted if there are more bytes than
  // announced; else AtomicFile's errors.
  absl::Status Append(absl::string_view bytes);
  // Completes the bundle. Returns InvalidArgument if the bytes have another
  // hash or are fewer than announced; else AtomicFile's errors.
  absl::Status Finish();

 private:
  friend class BundleFolder;
  BundleUpload(AtomicFile file, std::string sha256, int64_t announced_bytes)
      : file_(std::move(file)),
        sha256_(std::move(sha256)),
        announced_bytes_(announced_bytes) {}

  AtomicFile file_;
  Sha256 hash_;
  std::string sha256_;
  int64_t announced_bytes_;
  int64_t appended_bytes_ = 0;
};

class BundleFolder {
 public:
  // Opens the folder, and makes it if it is missing. Errors: FileError's.
  static absl::StatusOr<BundleFolder> Open(const std::string& path);

  std::string MakePath(absl::string_view sha256) const;
  // Returns whether there is any bundle.
  absl::StatusOr<bool> HasAny() const;
  // Returns the bytes of a bundle, or NotFound if there is none or it cannot be
  // looked up.
  absl::StatusOr<int64_t> FindSize(absl::string_view sha256) const;

  // Begins an upload. Returns InvalidArgument if `sha256` is not a hash, and
  // Unavailable if another upload of this bundle is in progress; else
  // AtomicFile's or FileError's errors.
  absl::StatusOr<BundleUpload> StartUpload(absl::string_view sha256,
                                           int64_t announced_bytes) const;

  // Removes a bundle. Succeeds if it does not exist.
  absl::Status Remove(absl::string_view sha256) const;

  // Removes uploads that a killed process left, and bundles for which
  // `is_wanted` returns false. Must not run during uploads.
  absl::Status Sweep(
      const std::function<bool(absl::string_view sha256)>& is_wanted) const;

  // Copies a bundle to another folder. Returns InvalidArgument if its bytes do
  // not have its hash any more, NotFound if there is no such bundle, and else
  // the errors of StartUpload and Append.
  absl::Status CopyTo(absl::string_view sha256,
                      const BundleFolder& destination) const;

 private:
  explicit BundleFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// Makes a folder if it is missing; its parent must exist. Errors: FileError's.
absl::Status MakeFolder(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_BUNDLE_FOLDER_H_
