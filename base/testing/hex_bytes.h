// Converts hexadecimal digits of a test to bytes.
//
//   const std::string table = BytesOfHex("8000ff");  // three bytes
//
// Abseil's function for this differs between the supported releases. A missing
// digit or another character fails the test, except a blank or a plus sign in
// place of one of a byte's digits.
//
// Thread-safe where GoogleTest's assertions are. The caller owns the bytes.
// Memory: a byte per two digits.

#ifndef FOOTPRINT_BASE_TESTING_HEX_BYTES_H_
#define FOOTPRINT_BASE_TESTING_HEX_BYTES_H_

#include <cstddef>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace footprint {

inline std::string BytesOfHex(absl::string_view digits) {
  EXPECT_EQ(digits.size() % 2, 0u) << digits;
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    EXPECT_TRUE(absl::SimpleHexAtoi(digits.substr(i, 2), &byte)) << digits;
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TESTING_HEX_BYTES_H_
