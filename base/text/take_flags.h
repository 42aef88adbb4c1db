// A program's own flags, taken out of a command line that others read, too.
//
//   std::string path;
//   absl::Status status = TakeFlags(
//       &argc, argv, {{"--trace_out", [&](absl::string_view value) {
//                        path = std::string(value);
//                        return absl::OkStatus();
//                      }}});
//   // --trace_out=x, or in two words, is gone from argv; path == "x"
//
// Thread-compatible. Words are views of argv's, which must outlive what `set`
// keeps of them; TakeFlags itself keeps nothing. Memory: none besides.

#ifndef FOOTPRINT_BASE_TEXT_TAKE_FLAGS_H_
#define FOOTPRINT_BASE_TEXT_TAKE_FLAGS_H_

#include <initializer_list>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct TakenFlag {
  absl::string_view name;  // with its dashes
  // Takes the value of the flag, "" if it has none, and returns whether it is
  // good. Called for each time the flag is given, in the order of the command
  // line.
  absl::FunctionRef<absl::Status(absl::string_view value)> set;
};

// Takes "--name=value" and "--name value" wherever they stand before "--"; all
// other words stay, in their order, and the program's name. The first error of
// a flag; all of them are taken all the same.
absl::Status TakeFlags(int* argc, char** argv,
                       std::initializer_list<TakenFlag> flags);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_TAKE_FLAGS_H_
