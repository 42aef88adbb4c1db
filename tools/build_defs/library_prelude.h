// The headers that most libraries include, parsed once for all of them:
// Abseil's status and the standard's containers take the compiler longer than
// the source that follows.
//
//   footprint_cc_library(name = "shape", srcs = ["shape.cc"], ...)
//
// In this repository's builds without optimization, a library or a program that
// depends on Abseil begins with it; each includes what it uses nevertheless,
// since all other builds go without. Declares nothing of its own, so nothing is
// owned and any thread may include it. Memory: the compiler's, 70 MB of a file
// that it maps.

#ifndef FOOTPRINT_TOOLS_BUILD_DEFS_LIBRARY_PRELUDE_H_
#define FOOTPRINT_TOOLS_BUILD_DEFS_LIBRARY_PRELUDE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#endif  // FOOTPRINT_TOOLS_BUILD_DEFS_LIBRARY_PRELUDE_H_
