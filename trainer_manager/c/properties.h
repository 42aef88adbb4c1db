// Properties as text, "unit=10, bias=false", which the makers of layers and
// optimizers take one by one.
//
//   absl::StatusOr<footprint::Properties> properties =
//       footprint::Properties::Parse("filters=16, kernel_size=3");
//   Convolution2dOptions options;
//   properties->Take("filters", &options.channels);
//   properties->Take("kernel_size", &options.kernel);
//   absl::Status status = properties->Finish("conv2d");
//
// A property is KEY=VALUE; commas separate properties, and spaces around keys
// and values do not count. A value may have a comma, written "\,", and a
// backslash before a comma or a backslash is written "\\". A property that
// nobody took is an error, with the nearest name that was asked for, so that a
// misspelt key is not lost.
//
// Copies the text; thread-compatible. Memory: the text, and some words for each
// property.

#ifndef FOOTPRINT_TRAINER_MANAGER_C_PROPERTIES_H_
#define FOOTPRINT_TRAINER_MANAGER_C_PROPERTIES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

class Properties {
 public:
  // Parses the text; an empty or blank one has no property. Returns
  // InvalidArgument if a property has no "=", no key or no value, or if a key
  // is given twice.
  static absl::StatusOr<Properties> Parse(absl::string_view text);

  // Sets `*value` if the text has the key, and leaves it as it is otherwise. A
  // malformed value makes Finish fail, and a malformed number makes `*value`
  // arbitrary. Whole numbers are decimal; a bool is "true" or "false"; a float
  // may also be "nan" or "inf".
  void Take(absl::string_view key, int64_t* value);
  void Take(absl::string_view key, float* value);
  void Take(absl::string_view key, bool* value);
  void Take(absl::string_view key, std::string* value);
  // Takes a number of bytes, such as "24 MB" (//base/text:parse_bytes).
  void TakeBytes(absl::string_view key, int64_t* value);

  // Returns whether the text has the key; it counts as asked for, not as taken.
  bool Has(absl::string_view key);

  // Notes that `key` must be there for Finish to succeed.
  void Require(absl::string_view key);

  // Returns InvalidArgument, with `what` before the message, if a value is
  // malformed, if a required key is missing, or if a key was not taken.
  absl::Status Finish(absl::string_view what) const;

 private:
  // Returns the text of a key, or null.
  const std::string* TakeText(absl::string_view key);
  void NoteMalformed(absl::string_view key, absl::string_view needed);

  std::map<std::string, std::string> values_;
  std::vector<std::string> known_;  // keys that were asked for
  std::vector<std::string> taken_;
  std::string first_error_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_C_PROPERTIES_H_
