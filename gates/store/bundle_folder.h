// Bundles on the disk, each under the hash of its bytes.
//
//   absl::StatusOr<BundleFolder> folder = BundleFolder::Open("store/bundles");
//   absl::StatusOr<BundleUpload> upload = folder->StartUpload(sha256, size);
//   absl::Status status = upload->Append(bytes);
//   if (status.ok()) status = upload->Finish();
//   std::string path = folder->MakePath(sha256);
//
// A file has all of its bytes or is not there: Finish compares the hash,
// flushes the file and its name to the disk, and only then gives it its name. A
// file that has its name is never written again.
//
// Thread-safe; an upload is thread-compatible and may outlive the folder.
// Memory: 32 KiB an upload. Time: that of the disk.

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

// An upload that ends without Finish leaves nothing behind.
class BundleUpload {
 public:
  // ResourceExhausted: the disk is full, or more bytes than were announced.
  absl::Status Append(absl::string_view bytes);
  // InvalidArgument: the bytes have another hash, or are fewer than announced.
  // Else AtomicFile's.
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
  // Makes the folder if it is missing. FileError's.
  static absl::StatusOr<BundleFolder> Open(const std::string& path);

  std::string MakePath(absl::string_view sha256) const;
  // Returns whether there is any bundle.
  absl::StatusOr<bool> HasAny() const;
  // The bytes of a bundle; NotFound.
  absl::StatusOr<int64_t> FindSize(absl::string_view sha256) const;

  // InvalidArgument: no hash. Unavailable: another upload of it is under way.
  // Else AtomicFile's.
  absl::StatusOr<BundleUpload> StartUpload(absl::string_view sha256,
                                           int64_t announced_bytes) const;

  // Succeeds if the bundle does not exist.
  absl::Status Remove(absl::string_view sha256) const;

  // Removes uploads that a killed process left, and bundles that `is_wanted`
  // does not want. Not while there are uploads.
  absl::Status Sweep(
      const std::function<bool(absl::string_view sha256)>& is_wanted) const;

  // Compares the hash on the way: InvalidArgument for a file that changed.
  absl::Status CopyTo(absl::string_view sha256,
                      const BundleFolder& destination) const;

 private:
  explicit BundleFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// Makes a folder that is missing; its parent must be there. FileError's.
absl::Status MakeFolder(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_BUNDLE_FOLDER_H_
