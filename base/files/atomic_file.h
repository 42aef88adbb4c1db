// A file that is there as a whole or not at all.
//
//   absl::StatusOr<footprint::AtomicFile> file =
//       footprint::AtomicFile::Create("model.safetensors", size_bytes);
//   absl::Status status = file->Append(data, bytes);
//   if (status.ok()) status = file->Commit();
//
// What is appended goes to the partial file, ".NAME.footprint-partial" beside a
// path's NAME, which Commit flushes to the disk and renames. Whatever happens
// before, and a full disk, a limit of file sizes (RLIMIT_FSIZE) or a killed
// process too, leaves the old file as it was; a partial file that a killed
// process left behind is removed by the next. Two processes never write to one:
// the second is refused.
//
// Where PATH is a symbolic link, the file that it leads to is replaced, beside
// itself, and the link stays. A file that is replaced gives its owner, group
// and permissions to the new one; its other names (hard links) keep the old
// bytes, and access lists are those of the folder. The partial file is always a
// new file: a link of that name is not followed but refused.
//
// Movable; thread-compatible. Memory: 64 KiB. Time: that of the disk.
//
// ResourceExhausted: no room; the text says how much is wanted. Unavailable:
// the system refused, or another process is writing. NotFound: no such folder.
// InvalidArgument: PATH is no name of a file or no regular file, or
// the partial file is none. PermissionDenied: the old file's owner cannot be
// kept.

#ifndef FOOTPRINT_BASE_FILES_ATOMIC_FILE_H_
#define FOOTPRINT_BASE_FILES_ATOMIC_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

class AtomicFile {
 public:
  // `expected_bytes` are asked of the file system beforehand where it can, so
  // that a full disk is known at once; 0 if unknown.
  static absl::StatusOr<AtomicFile> Create(absl::string_view path,
                                           int64_t expected_bytes);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  // Without Commit, the partial file is removed.
  ~AtomicFile();

  absl::Status Append(const void* data, int64_t bytes);

  // Once; no Append afterwards.
  absl::Status Commit();

 private:
  AtomicFile() = default;
  absl::Status OpenPartial(mode_t mode);
  absl::Status RemoveStalePartial() const;
  absl::Status KeepOwnerAndMode(const struct stat& old) const;
  absl::Status Reserve() const;
  absl::Status Flush();
  absl::Status WriteAll(const char* data, int64_t bytes);
  absl::Status Error(absl::string_view what, int error) const;

  std::string path_;  // without links
  std::string partial_path_;
  int descriptor_ = -1;
  int64_t expected_bytes_ = 0;
  std::string buffer_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_ATOMIC_FILE_H_
