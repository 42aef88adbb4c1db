// A protocol buffer as JSON for other programs.
//
//   std::string json = MessageJson(trace);  // {"schema_version": 1, ...}
//
// Every field by its name in the schema, numbers as numbers (protobuf's own
// JSON has 64-bit ones in quotes), values of enumerations by name. A field that
// may be absent and is has no entry; the others have one, also with the
// default. The field `complete`, which is of the file and not of its contents,
// is left out. A byte that is no UTF-8 becomes U+FFFD. JSON has no number that
// is not finite: such a one is null. Pure: the text is a copy.
//
// Thread-safe. Memory: the message once more, and the text.

#ifndef FOOTPRINT_BASE_TEXT_MESSAGE_JSON_H_
#define FOOTPRINT_BASE_TEXT_MESSAGE_JSON_H_

#include <string>

#include "google/protobuf/message.h"

namespace footprint {

std::string MessageJson(const google::protobuf::Message& message);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_MESSAGE_JSON_H_
