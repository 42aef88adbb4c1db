// The headers that most tests include, parsed once for all of them: the
// compiler takes longer for gMock alone than for the test that follows.
//
//   footprint_cc_test(name = "shape_test", srcs = ["shape_test.cc"], ...)
//
// Every footprint_cc_test begins with it. A test must still include what it
// uses, since a build with clang does not have it. Declares nothing itself.
// Memory: 120 MB of the compiler's, in a file that it maps.

#ifndef FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_
#define FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Tested by test_prelude_test.

#endif  // FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_
