// A fuzz target: a function that libFuzzer calls with bytes that it makes, and
// that the replay of a corpus calls with each file.
//
//   void ReadAnyText(absl::string_view text) {
//     const absl::StatusOr<int64_t> bytes = ParseBytes(text);
//     if (!bytes.ok()) return RequireRefusal(bytes.status());
//     Require(*bytes >= 0, "a number of bytes is not negative");
//   }
//   FOOTPRINT_FUZZ_TARGET(ReadAnyText)
//
// footprint_fuzz_test declares it in BUILD, and `tools/dev fuzz` runs it. The
// bytes are valid during the call. Keeps no state; thread-safe. Memory: none.

#ifndef FOOTPRINT_BASE_TESTING_FUZZ_TARGET_H_
#define FOOTPRINT_BASE_TESTING_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Ends the process if `what` does not hold, which is a finding.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz target: it does not hold that %s\n", what);
  std::abort();
}

// Requires that a refusal has an error that blames the input, with a text.
inline void RequireRefusal(const absl::Status& status) {
  Require(!status.ok(), "what was refused has an error");
  Require(!absl::IsInternal(status) && !absl::IsUnknown(status),
          "an error is the input's fault, not the program's");
  Require(!status.message().empty(), "an error has a text");
}

}  // namespace footprint

// Defines the fuzz target. `function` takes an absl::string_view. Use this once
// in a program, in a namespace with a name.
#define FOOTPRINT_FUZZ_TARGET(function)                                     \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    function(absl::string_view(reinterpret_cast<const char*>(data), size)); \
    return 0;                                                               \
  }

#endif  // FOOTPRINT_BASE_TESTING_FUZZ_TARGET_H_
