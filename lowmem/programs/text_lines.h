// Reads a file with a text on each line, one line at a time.
//
//   absl::StatusOr<TextLines> lines = TextLines::Open("prompts.txt", false);
//   while (lines->Next()) {
//     absl::StatusOr<std::string> text = lines->Text();
//     if (!text.ok()) Warn(lines->Place(), text.status());
//   }
//   absl::Status status = lines->status();
//
// A line ends with "\n" or "\r\n"; the last one may end with the file. With
// JSON, each line is a string of JSON, so that a text may contain line breaks.
//
// Thread-compatible; movable. Memory: one line of at most 16 MiB. Open returns
// the errors of OpenRegularFile. Text returns InvalidArgument if the line is
// longer, or not a string of JSON; the lines behind it can be read. status() is
// DataLoss if the file could not be read to its end.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_TEXT_LINES_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_TEXT_LINES_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint::lowmem_internal {

// Returns the text of a line; with `is_json` the string of JSON that it is.
absl::StatusOr<std::string> ParseTextLine(absl::string_view line, bool is_json);

class TextLines {
 public:
  static absl::StatusOr<TextLines> Open(const std::string& path, bool is_json);

  // Goes to the next line. Returns false if there is none.
  bool Next();
  absl::StatusOr<std::string> Text() const;

  // Returns the number of the line, from 1 on.
  int64_t number() const { return number_; }
  // Returns "prompts.txt: line 7: ", for an error.
  std::string Place() const;
  absl::Status status() const;

 private:
  TextLines(std::string path, bool is_json)
      : path_(std::move(path)),
        is_json_(is_json),
        stream_(path_, std::ios::binary) {}

  std::string path_;
  bool is_json_;
  std::ifstream stream_;
  std::string line_;
  bool is_too_long_ = false;
  int64_t number_ = 0;
};

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_TEXT_LINES_H_
