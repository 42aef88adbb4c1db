// The headers that most libraries include, parsed once for all of them: the
// compiler takes longer for Abseil's status and the standard containers than
// for the source that follows.
//
//   footprint_cc_library(name = "shape", srcs = ["shape.cc"], ...)
//
// In this repository's builds without optimization, a library or a program that
// depends on Abseil begins with it. Each must still include what it uses, since
// other builds do not have it. Declares nothing itself, so nothing is owned and
// any thread may include it. Memory: 70 MB of the compiler's, in a file that it
// maps.

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
