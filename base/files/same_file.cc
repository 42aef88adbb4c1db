#include "footprint/base/files/same_file.h"

#include <limits.h>
#include <sys/stat.h>

#include <cstddef>

#include "absl/strings/string_view.h"

namespace footprint {
namespace {

bool AreSame(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Returns where the last part of `path` begins.
size_t NameBegin(absl::string_view path) { return path.rfind('/') + 1; }

// Reads the status of the folder that contains the path's last part.
bool StatFolder(absl::string_view path, struct stat* facts) {
  char folder[PATH_MAX] = ".";
  const size_t size = NameBegin(path);
  if (size >= sizeof(folder)) return false;
  if (size > 0) folder[path.copy(folder, size)] = '\0';
  return stat(folder, facts) == 0;
}

}  // namespace

bool IsSameFile(const std::string& one, const std::string& other) {
  if (one == other) return true;
  struct stat facts;
  struct stat other_facts;
  // Compares existing files by their inodes, and other paths by folder and
  // name.
  const bool is_there = stat(one.c_str(), &facts) == 0;
  if (is_there != (stat(other.c_str(), &other_facts) == 0)) return false;
  if (is_there) return AreSame(facts, other_facts);
  return absl::string_view(one).substr(NameBegin(one)) ==
             absl::string_view(other).substr(NameBegin(other)) &&
         StatFolder(one, &facts) && StatFolder(other, &other_facts) &&
         AreSame(facts, other_facts);
}

}  // namespace footprint
