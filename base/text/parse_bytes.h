// Parses numbers of bytes as people write them. It does not read the exact
// figure that FormatBytes (format_bytes.h) adds in parentheses.
//
//   footprint::ParseBytes("16MiB");     // 16777216
//   footprint::ParseBytes("1.5 GiB");   // 1610612736
//   footprint::ParseBytes("4096");      // 4096
//
// Accepts a whole or decimal number of at most 24 digits, at most one blank,
// then B, KiB, MiB, GiB, TiB, kB, MB, GB, TB or no unit. A decimal number needs
// a unit above B, and the fraction of a byte that it leaves is dropped. Returns
// InvalidArgument, with the text and what is wrong with it, for anything else
// and for 2^63 bytes and more.
//
// A pure function, thread-safe. Memory: that of the error's text.

#ifndef FOOTPRINT_BASE_TEXT_PARSE_BYTES_H_
#define FOOTPRINT_BASE_TEXT_PARSE_BYTES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_PARSE_BYTES_H_
