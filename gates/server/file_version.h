// Tells whether a file has changed since it was read.
//
//   const std::string version = FileVersion("/var/lib/footprint/tokens");
//   ...
//   if (FileVersion("/var/lib/footprint/tokens") != version) ...  // read again
//
// A file that is replaced, as ReplaceFile does, always has another version; one
// that is overwritten has one if its size or its time differs. Thread-safe;
// keeps nothing.

#ifndef FOOTPRINT_GATES_SERVER_FILE_VERSION_H_
#define FOOTPRINT_GATES_SERVER_FILE_VERSION_H_

#include <sys/stat.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {

// Returns a text that another version of the file does not have; "none" if the
// file is missing.
inline std::string FileVersion(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return "none";
  // A replaced file has another inode number than the old one.
  return absl::StrCat(found.st_ino, " ", found.st_mtim.tv_sec, " ",
                      found.st_mtim.tv_nsec, " ", found.st_size);
}

}  // namespace footprint

// Tested by access_tokens_test.

#endif  // FOOTPRINT_GATES_SERVER_FILE_VERSION_H_
