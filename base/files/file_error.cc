#include "footprint/base/files/file_error.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

absl::StatusCode ToStatusCode(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EISDIR:
    case ELOOP:
    case ENXIO:  // a socket
    case ENAMETOOLONG:
    case EINVAL:
      return absl::StatusCode::kInvalidArgument;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

absl::string_view AdviceFor(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free disk space and run again";
    case EFBIG:
      return "raise the limit of file sizes (ulimit -f), or write to a file "
             "system that has such files";
    case ENOMEM:
      return "raise the limit of memory";
    case ENAMETOOLONG:
      return "shorten the name: it may have 255 bytes, the path 4095";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      break;
  }
  switch (ToStatusCode(error)) {
    case absl::StatusCode::kNotFound:
      return "check the path, or make the file first";
    case absl::StatusCode::kPermissionDenied:
      return "check the permissions of the file and its folder";
    case absl::StatusCode::kInvalidArgument:
      return "name a regular file";
    default:
      return "check the disk's health and the system's log";
  }
}

}  // namespace

absl::Status FileError(int error, absl::string_view path,
                       absl::string_view what, absl::string_view advice) {
  return absl::Status(
      ToStatusCode(error),
      absl::StrCat(path, ": ", what, ": ", std::strerror(error), "; ",
                   advice.empty() ? AdviceFor(error) : advice));
}

}  // namespace footprint
