#include "footprint/base/files/file_error.h"

#include <cerrno>
#include <string>
#include <utility>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(FileErrorTest, GivesEachErrorItsCode) {
  using Code = absl::StatusCode;
  for (const auto& [error, code] :
       {std::pair<int, Code>{ENOENT, Code::kNotFound},
        {ENOTDIR, Code::kNotFound},
        {EACCES, Code::kPermissionDenied},
        {EPERM, Code::kPermissionDenied},
        {EROFS, Code::kPermissionDenied},
        {EISDIR, Code::kInvalidArgument},
        {ELOOP, Code::kInvalidArgument},
        {ENXIO, Code::kInvalidArgument},
        {ENAMETOOLONG, Code::kInvalidArgument},
        {EINVAL, Code::kInvalidArgument},
        {ENOSPC, Code::kResourceExhausted},
        {EDQUOT, Code::kResourceExhausted},
        {EFBIG, Code::kResourceExhausted},
        {ENOMEM, Code::kResourceExhausted},
        {EMFILE, Code::kResourceExhausted},
        {ENFILE, Code::kResourceExhausted},
        {EIO, Code::kUnavailable},
        {EBUSY, Code::kUnavailable}}) {
    const absl::Status status = FileError(error, "a/b", "cannot be read");
    EXPECT_THAT(status, StatusIs(code));
    EXPECT_THAT(std::string(status.message()),
                StartsWith("a/b: cannot be read: "));
  }
}

TEST(FileErrorTest, NamesTheWayOut) {
  EXPECT_THAT(
      std::string(FileError(ENOSPC, "f", "cannot be written").message()),
      HasSubstr("No space left on device; free disk space"));
  EXPECT_THAT(
      std::string(FileError(ENAMETOOLONG, "f", "cannot be made").message()),
      HasSubstr("File name too long; shorten the name"));
  EXPECT_THAT(std::string(FileError(ENOENT, "f", "cannot be opened",
                                    "make the folder first")
                              .message()),
              EndsWith("No such file or directory; make the folder first"));
}

}  // namespace
}  // namespace footprint
