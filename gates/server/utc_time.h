// Writes times for people, as RFC 3339 has them in UTC.
//
//   std::string text = FormatUtcTime(1764400000);   // 2025-11-29T07:06:40Z
//
// A pure function, thread-safe. Memory: the text.

#ifndef FOOTPRINT_GATES_SERVER_UTC_TIME_H_
#define FOOTPRINT_GATES_SERVER_UTC_TIME_H_

#include <cstdint>
#include <string>

namespace footprint {

// Returns a text for any number of seconds. A year beyond 9999 has more than
// four digits.
std::string FormatUtcTime(int64_t unix_seconds);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_UTC_TIME_H_
