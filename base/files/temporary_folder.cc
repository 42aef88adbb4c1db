#include "footprint/base/files/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_error.h"

namespace footprint {

std::string TemporaryFolderParent() {
  const char* const parent = std::getenv("TMPDIR");
  return parent == nullptr || *parent == '\0' ? "/tmp" : parent;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

absl::Status TemporaryFolder::Create(absl::string_view parent,
                                     absl::string_view name) {
  if (parent.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the folder in which ", name, " is made has no name"));
  }
  std::string path = absl::StrCat(parent, "/", name, "-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return FileError(errno, path, "the folder cannot be made",
                     "it is made where it is asked for, else where TMPDIR "
                     "says, else in /tmp");
  }
  path_ = path;
  return absl::OkStatus();
}

std::string TemporaryFolder::Path(absl::string_view name) const {
  return absl::StrCat(path_, "/", name);
}

}  // namespace footprint
