// Takes a program's own flags out of a command line that other code reads, too.
//
//   std::string path;
//   absl::Status status = TakeFlags(
//       &argc, argv, {{"--trace_out", [&](absl::string_view value) {
//                        path = std::string(value);
//                        return absl::OkStatus();
//                      }}});
// --trace_out=x, or the same in two words, is gone from argv; path == "x".
//
// Thread-compatible. Values are views of argv's words, which must outlive what
// `set` keeps of them; TakeFlags itself keeps nothing. Memory: none.

#ifndef FOOTPRINT_BASE_TEXT_TAKE_FLAGS_H_
#define FOOTPRINT_BASE_TEXT_TAKE_FLAGS_H_

#include <initializer_list>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct TakenFlag {
  absl::string_view name;  // with its dashes
  // Takes the flag's value, "" if it has none, and returns whether it is valid.
  // It is called once for each occurrence of the flag, in the order of the
  // command line.
  absl::FunctionRef<absl::Status(absl::string_view value)> set;
};

// Takes "--name=value" and "--name value" wherever they are before "--". The
// word after "--name" is its value even if it begins with a dash, unless it is
// "--". All other words stay in their order, with the program's name, and a
// null pointer follows them. Returns the first error of a flag, but takes all
// flags in any case.
absl::Status TakeFlags(int* argc, char** argv,
                       std::initializer_list<TakenFlag> flags);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_TAKE_FLAGS_H_
