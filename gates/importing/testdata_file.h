// Reads files that real tools wrote (testdata/make.sh), for tests of their
// parsers.
//
//   const std::string text = TestdataFile("massif.out");
//
// Thread-safe; the caller owns the result. Memory: the file.

#ifndef FOOTPRINT_GATES_IMPORTING_TESTDATA_FILE_H_
#define FOOTPRINT_GATES_IMPORTING_TESTDATA_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {

// Returns the file's content. Fails the test and returns "" if there is no such
// file.
inline std::string TestdataFile(const std::string& name) {
  const absl::StatusOr<std::string> text =
      ReadWholeFile(absl::StrCat("gates/importing/testdata/", name));
  EXPECT_THAT(text, IsOk());
  return text.value_or("");
}

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_TESTDATA_FILE_H_
