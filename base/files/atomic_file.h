// A file that is there as a whole or not at all.
//
//   absl::StatusOr<footprint::AtomicFile> file =
//       footprint::AtomicFile::Create("model.safetensors");
//   absl::Status status = file->Append("bytes");
//   if (status.ok()) status = file->Commit();
//
// Appended bytes go to the partial file, ".NAME.footprint-partial" beside a
// path's NAME (of one of more than 191 bytes, these and a hash), which Commit
// flushes to the disk and renames. Whatever happens before, and a full disk, a
// limit of file sizes (RLIMIT_FSIZE) or a killed process too, leaves the old
// file as it was; a partial file that a killed process left behind is removed
// by the next. Two never write to one.
//
// Where PATH is a symbolic link, the file that it leads to is replaced, beside
// itself, and the link stays. A file that is replaced gives its owner, group
// and permissions to the new one; its other names (hard links) keep the old
// bytes, and access lists are those of the folder. A file that its owner made
// read-only is left alone, also by root. The partial file is always a new file:
// a link of that name is not followed but refused.
//
// Movable; thread-compatible. Memory: 32 KiB. Time: that of the disk.
//
// ResourceExhausted: no room; the text says how much is wanted. Unavailable:
// another process is writing. NotFound: no such folder. InvalidArgument: PATH
// is no name of a file or no regular file, or the partial file is none.
// PermissionDenied: the folder or the old file must not be written, or the old
// file's owner cannot be kept. Else FileError's.

#ifndef FOOTPRINT_BASE_FILES_ATOMIC_FILE_H_
#define FOOTPRINT_BASE_FILES_ATOMIC_FILE_H_

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_lock.h"

namespace footprint {

// Whether the file must outlast a loss of power, which takes milliseconds, or
// can be made again.
enum class ToDisk { kFlush, kNoFsync };

// Treatment of a path that leads to a device, a pipe or a socket, or that names
// an open descriptor of this process: /dev/stdout, /dev/fd/3.
enum class SpecialFiles { kRefuse, kWriteAsTheyAre };

struct AtomicFileOptions {
  // Asked of the file system beforehand where it can, so that a full disk is
  // known at once; 0 if unknown.
  int64_t expected_bytes = 0;
  ToDisk to_disk = ToDisk::kFlush;
  // Special files, where they are written, get each byte as it comes: nothing
  // is replaced.
  SpecialFiles special_files = SpecialFiles::kRefuse;
  // The writer does this if another is writing the file.
  WhenLocked when_locked = WhenLocked::kRefuse;
};

class AtomicFile {
 public:
  static absl::StatusOr<AtomicFile> Create(
      absl::string_view path, const AtomicFileOptions& options = {});

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  // Removes the partial file unless Commit was called.
  ~AtomicFile();

  // The first failure is kept: every later Append and Commit returns it.
  absl::Status Append(absl::string_view bytes);

  // Writes the file for good; called once, and no Append afterwards.
  absl::Status Commit();

 private:
  AtomicFile() = default;
  absl::Status OpenSpecial(const std::string& path);
  absl::Status OpenBeside(absl::string_view path,
                          const AtomicFileOptions& options);
  absl::Status OpenPartial(mode_t mode, WhenLocked when_locked);
  absl::Status RemoveStalePartial(WhenLocked when_locked) const;
  absl::Status RefuseReadOnly(const struct stat& old) const;
  absl::Status KeepOwnerAndMode(const struct stat& old) const;
  absl::Status Reserve() const;
  void Flush();
  void WriteThrough(absl::string_view bytes);
  absl::Status ToTheDisk() const;
  absl::Status Rename();
  absl::Status Error(int error, absl::string_view what) const;

  std::string path_;          // without links
  std::string partial_path_;  // empty: a special file
  FileDescriptor file_;
  int64_t expected_bytes_ = 0;
  int64_t appended_bytes_ = 0;
  ToDisk to_disk_ = ToDisk::kFlush;
  std::unique_ptr<char[]> buffer_;
  size_t buffered_bytes_ = 0;
  absl::Status failure_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_ATOMIC_FILE_H_
