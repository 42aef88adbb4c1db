// The Python interpreters that tests run.
//
//   for (const std::string& python : TestedInterpreters()) {
//     ReadOutput(absl::StrCat(python, " --version"));
//   }
//
// They are Debian's and those that FOOTPRINT_PYTHONS names, separated by
// colons, if they exist. A caller that finds none reports what it skips.
//
// Reads the environment anew in each call and keeps nothing: thread-safe as
// long as no thread changes the environment. Memory: the paths.

#ifndef FOOTPRINT_PROFILING_PYTHON_TESTED_INTERPRETERS_H_
#define FOOTPRINT_PROFILING_PYTHON_TESTED_INTERPRETERS_H_

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace footprint {

inline std::vector<std::string> TestedInterpreters() {
  std::vector<std::string> pythons;
  std::string paths = "/usr/bin/python3";
  if (const char* const more = std::getenv("FOOTPRINT_PYTHONS")) {
    absl::StrAppend(&paths, ":", more);
  }
  for (absl::string_view path : absl::StrSplit(paths, ':')) {
    if (access(std::string(path).c_str(), X_OK) == 0) {
      pythons.emplace_back(path);
    }
  }
  return pythons;
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_PYTHON_TESTED_INTERPRETERS_H_
