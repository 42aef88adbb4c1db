// A file that is written completely or not at all.
//
//   absl::StatusOr<footprint::AtomicFile> file =
//       footprint::AtomicFile::Create("model.safetensors");
//   absl::Status status = file->Append("bytes");
//   if (status.ok()) status = file->Commit();
//
// For a file NAME, Append writes to the partial file ".NAME.footprint-partial"
// in the same folder; a NAME longer than 191 bytes is cut to 191 bytes and a
// hash. Commit flushes the partial file to the disk, unless the options
// say kNoFsync, and renames it. Until then the old file stays as it was, even
// after a full disk, a limit of file sizes (RLIMIT_FSIZE) or a killed process.
// The next writer removes a partial file that a killed process left. Two
// writers never write to one partial file.
//
// If PATH is a symbolic link, the file at its end is replaced, and the link
// stays. A new file gets the owner, group and permissions of the file that it
// replaces; other names (hard links) keep the old bytes, and access lists are
// those of the folder. A file that its owner made read-only is not replaced,
// not even by root. The partial file is always a new file: a link of its name
// is refused, not followed.
//
// Movable; thread-compatible. Memory: 32 KiB. Time: that of the disk.
//
// ResourceExhausted: there is no room; the message says how many bytes are
// needed.
// Unavailable: another process is writing, or has removed the partial file.
// NotFound: the folder does not exist. InvalidArgument: PATH is not a file's
// name or not a regular file, or the partial file's name belongs to something
// else. PermissionDenied: the folder or the old file must not be written, or
// the old file's owner cannot be kept. Other errors are those of FileError.

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

// Says whether the file must survive a loss of power, or can be made again. The
// flush for the former takes milliseconds.
enum class ToDisk { kFlush, kNoFsync };

// The treatment of a path that leads to a device, a pipe or a socket, or that
// names an open descriptor of this process: /dev/stdout, /dev/fd/3.
enum class SpecialFiles { kRefuse, kWriteAsTheyAre };

struct AtomicFileOptions {
  // Bytes to reserve in advance, if the file system can, so that a full disk is
  // noticed at once; 0 if unknown.
  int64_t expected_bytes = 0;
  ToDisk to_disk = ToDisk::kFlush;
  // Special files, if they are allowed, are written without a partial file, and
  // nothing is replaced. Bytes that are still buffered reach them with Commit.
  SpecialFiles special_files = SpecialFiles::kRefuse;
  // The treatment of a file that another process is writing.
  WhenLocked when_locked = WhenLocked::kRefuse;
};

class AtomicFile {
 public:
  // Opens the partial file, or a special file itself. Returns the errors above.
  static absl::StatusOr<AtomicFile> Create(
      absl::string_view path, const AtomicFileOptions& options = {});

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  // Removes the partial file, unless Commit has put it in place.
  ~AtomicFile();

  // Appends bytes. They are buffered, so a later Append or Commit may be the
  // first to return an error. The first failure is kept: every later Append and
  // Commit returns it.
  absl::Status Append(absl::string_view bytes);

  // Puts the file in place. Call it once, and do not call Append afterwards.
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
  std::string partial_path_;  // empty for a special file
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
