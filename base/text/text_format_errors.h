// Receives the errors of Protobuf's text format from any of its releases, which
// call functions of different names.
//
//   class Problems : public TextFormatErrors {
//     void Add(int line, int column, const std::string& message) override;
//   };
//   parser.RecordErrorsTo(&problems);
//
// Thread-compatible. Owns nothing and takes no memory.

#ifndef FOOTPRINT_BASE_TEXT_TEXT_FORMAT_ERRORS_H_
#define FOOTPRINT_BASE_TEXT_TEXT_FORMAT_ERRORS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/message.h"

namespace footprint {

class TextFormatErrors : public google::protobuf::io::ErrorCollector {
 public:
  // Adds an error. Line and column begin at 0; a negative line means the whole
  // text.
  virtual void Add(int line, int column, const std::string& message) = 0;

  // The interface's functions have other names and string types since 4.22.
  // Warnings are ignored.
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(int line, google::protobuf::io::ColumnNumber column,
                   absl::string_view message) override {
    Add(line, column, std::string(message));
  }
  void RecordWarning(int, google::protobuf::io::ColumnNumber,
                     absl::string_view) override {}
#else
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    Add(line, column, message);
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber,
                  const std::string&) override {}
#endif
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_TEXT_FORMAT_ERRORS_H_
