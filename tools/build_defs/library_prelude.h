// The headers that many libraries include, parsed once for all of them: clang
// takes longer for Abseil's status, protocol buffers and the standard
// containers than for the source that follows.
//
//   footprint_cc_library(name = "shape", srcs = ["shape.cc"], ...)
//
// In this repository's builds without optimization, a library or a program that
// depends on a proto, or on more of Abseil than absl/base, begins with it
// unless it has copts. Each must still include what it uses, since other builds
// do not have it. The header declares nothing itself, so it owns nothing and
// has no state. Memory: the compiler maps a precompiled file of 30 MB.

#ifndef FOOTPRINT_TOOLS_BUILD_DEFS_LIBRARY_PRELUDE_H_
#define FOOTPRINT_TOOLS_BUILD_DEFS_LIBRARY_PRELUDE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
// Debian has protocol buffers and JSON where the compiler looks. They are not
// dependencies, since an importer of one library may have neither.
#include "google/protobuf/arena.h"
#include "google/protobuf/arenastring.h"
#include "google/protobuf/extension_set.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "google/protobuf/generated_message_reflection.h"
#include "google/protobuf/generated_message_util.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/map.h"
#include "google/protobuf/message.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/metadata_lite.h"
#include "google/protobuf/repeated_field.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/unknown_field_set.h"
#include "nlohmann/json.hpp"

#endif  // FOOTPRINT_TOOLS_BUILD_DEFS_LIBRARY_PRELUDE_H_
