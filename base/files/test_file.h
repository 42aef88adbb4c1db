// Files for tests with any bytes, well-formed or not.
//
//   std::string path = footprint::WriteTestFile(
//       "two.safetensors",
//       footprint::SafetensorsBytes(
//           R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "xy"));
//
// Texts are copies; files stay in the test's own folder. Thread-safe for files
// of different names. Memory: a file's bytes, twice while it is read.

#ifndef FOOTPRINT_BASE_FILES_TEST_FILE_H_
#define FOOTPRINT_BASE_FILES_TEST_FILE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns the bytes of a safetensors file: the length of `header`, `header`
// unchanged, and `data`.
std::string SafetensorsBytes(absl::string_view header, absl::string_view data);

// Returns a path in the test's own folder, TEST_TMPDIR, or in /tmp if that is
// not set.
std::string TestPath(absl::string_view name);

// Writes the file of this name in the test's own folder, over an old one, and
// returns its path. Ends the test if it cannot be written.
std::string WriteTestFile(absl::string_view name, absl::string_view bytes);

// Returns a file's bytes; ends the test if it cannot be read.
std::string ReadTestFile(absl::string_view path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_TEST_FILE_H_
