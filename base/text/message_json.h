// Writes a protocol buffer as JSON for other programs.
//
//   std::string json = MessageJson(trace);  // {"schema_version": 1, ...}
//
// Each field is written under its name in the schema. Numbers are numbers
// (protobuf's own JSON writes 64-bit ones in quotes), and values of
// enumerations are names, or numbers if the schema has no name. A field with
// presence that is not set has no entry; every other field has one, even if it
// has the default value. A map is a list of entries, in no particular order. A
// field `complete`, which belongs to the file and not to its content, is left
// out of every message. A byte that is not UTF-8 becomes U+FFFD. A number that
// is not finite becomes null, since JSON has none. Pure: the text is a copy.
//
// Thread-safe. Memory: the message as a tree of JSON values, and the text
// twice.

#ifndef FOOTPRINT_BASE_TEXT_MESSAGE_JSON_H_
#define FOOTPRINT_BASE_TEXT_MESSAGE_JSON_H_

#include <string>

#include "google/protobuf/message.h"

namespace footprint {

// Returns indented ASCII text that ends with a newline.
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_MESSAGE_JSON_H_
