// The headers that many tests include, parsed once for all of them: clang takes
// longer for gMock alone than for the test that follows.
//
//   footprint_cc_test(name = "shape_test", srcs = ["shape_test.cc"], ...)
//
// Every footprint_cc_test begins with it. A test must still include what it
// uses, since other builds do not have it. Declares nothing itself. Memory:
// 40 MB of the compiler's, in a file that it maps.

#ifndef FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_
#define FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_

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
#include "gmock/gmock.h"
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
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

// Tested by test_prelude_test.

#endif  // FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_
