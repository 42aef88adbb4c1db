#include "footprint/base/files/whole_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"

namespace footprint {
namespace {

AtomicFileOptions Options(ToDisk to_disk) {
  AtomicFileOptions options;
  options.to_disk = to_disk;
  options.when_locked = WhenLocked::kWait;
  return options;
}

absl::Status WriteWhole(const std::string& path, absl::string_view bytes,
                        const AtomicFileOptions& options) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
  if (!file.ok()) return file.status();
  const absl::Status status = file->Append(bytes);
  return status.ok() ? file->Commit() : status;
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path,
                                          int64_t most_bytes) {
  const absl::StatusOr<FileDescriptor> file = OpenRegularFile(path);
  if (!file.ok()) return file.status();
  struct stat facts;
  if (fstat(file->get(), &facts) != 0) {
    return FileError(errno, path, "cannot be read");
  }
  if (facts.st_size > most_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": larger than ", most_bytes,
                     " bytes; is it the file that was meant?"));
  }
  // This is not a C++ stream, whose locales would cost a small process a
  // megabyte.
  std::string bytes(static_cast<size_t>(facts.st_size), '\0');
  const int64_t got = ReadAt(file->get(), 0, facts.st_size, bytes.data());
  if (got < 0) return FileError(errno, path, "cannot be read");
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

absl::Status ReplaceFile(const std::string& path, absl::string_view bytes,
                         ToDisk to_disk) {
  return WriteWhole(path, bytes, Options(to_disk));
}

absl::Status CheckReplaceable(const std::string& path) {
  return AtomicFile::Create(path, Options(ToDisk::kNoFsync)).status();
}

absl::Status WriteOutputFile(const std::string& path, absl::string_view bytes,
                             ToDisk to_disk) {
  AtomicFileOptions options = Options(to_disk);
  options.special_files = SpecialFiles::kWriteAsTheyAre;
  return WriteWhole(path, bytes, options);
}

absl::Status CheckOutputFile(const std::string& path) {
  struct stat found;
  // If this opened and closed a pipe, its reader would take that for the whole
  // output.
  if (stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    if (S_ISDIR(found.st_mode)) {
      return FileError(EISDIR, path, "cannot be written");
    }
    return access(path.c_str(), W_OK) == 0
               ? absl::OkStatus()
               : FileError(errno, path, "cannot be written");
  }
  // A descriptor of a regular file, such as /dev/stdout behind a shell's ">",
  // is written at its position.
  AtomicFileOptions options = Options(ToDisk::kNoFsync);
  options.special_files = SpecialFiles::kWriteAsTheyAre;
  return AtomicFile::Create(path, options).status();
}

}  // namespace footprint
