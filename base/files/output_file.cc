#include "footprint/base/files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace tabular {
namespace {

bool IsSpecialFile(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
}

absl::Status WriteError(int error, const std::string& path, const char* doing) {
  const std::string message =
      absl::StrCat(path, ": ", doing, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(
          absl::StrCat(message, "; create the folder first"));
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
      return absl::PermissionDeniedError(
          absl::StrCat(message, "; name a file in a folder you may write to"));
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(
          absl::StrCat(message, "; free disk space and run again"));
    default:
      return absl::InternalError(message);
  }
}

}  // namespace

OutputFile::OutputFile(const std::string& path)
    : path_(path), written_path_(path), buffer_(new char[kBufferBytes]) {
  if (!IsSpecialFile(path)) {
    CreatePartial();
    return;
  }
  descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) Fail("cannot be created");
}

// What is found under that name may be another's: only a file that an earlier
// run left is taken away, and nothing is written through a link or a pipe.
void OutputFile::CreatePartial() {
  const std::string partial = path_ + ".partial";
  struct stat found;
  const bool is_taken = lstat(partial.c_str(), &found) == 0;
  if (is_taken && !S_ISREG(found.st_mode)) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(partial, ": is no regular file, and ", path_,
                     " is first written under that name: remove it"));
    return;
  }
  if (is_taken) unlink(partial.c_str());
  descriptor_ =
      open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return Fail("cannot be created");
  written_path_ = partial;
}

OutputFile::~OutputFile() { Discard(); }

void OutputFile::Write(absl::string_view bytes) {
  if (!status_.ok()) return;
  if (bytes.size() > kBufferBytes - buffered_) Flush();
  if (bytes.size() > kBufferBytes) {
    WriteThrough(bytes.data(), bytes.size());
    return;
  }
  std::memcpy(buffer_.get() + buffered_, bytes.data(), bytes.size());
  buffered_ += bytes.size();
}

absl::Status OutputFile::Commit() {
  Flush();
  if (status_.ok()) {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    // Some file systems report a full disk only here.
    if (close(descriptor) != 0) Fail("cannot be written");
  }
  if (status_.ok() && written_path_ != path_ &&
      std::rename(written_path_.c_str(), path_.c_str()) != 0) {
    Fail("cannot be replaced");
  }
  if (!status_.ok()) Discard();
  written_path_ = path_;
  return status_;
}

void OutputFile::Flush() {
  WriteThrough(buffer_.get(), buffered_);
  buffered_ = 0;
}

void OutputFile::WriteThrough(const char* bytes, size_t size) {
  while (size > 0 && status_.ok()) {
    const ssize_t count = write(descriptor_, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      Fail("cannot be written");
      return;
    }
    bytes += count;
    size -= static_cast<size_t>(count);
  }
}

void OutputFile::Fail(const char* doing) {
  status_ = WriteError(errno, path_, doing);
}

void OutputFile::Discard() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (written_path_ != path_) unlink(written_path_.c_str());
  written_path_ = path_;
}

}  // namespace tabular
}  // namespace footprint
