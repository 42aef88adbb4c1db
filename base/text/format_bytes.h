// Formats byte counts for people: a rounded figure with a binary unit, and the
// exact figure, since gates judge by the byte.
//
//   FormatBytes(1572864);       // "1.50 MiB (1,572,864 B)"
//   FormatBytes(512);           // "512 B"
//   FormatRoundedBytes(512000); // "500 KiB"
//   FormatCount(1572864);       // "1,572,864"
//   AbbreviateBytes(1572864);   // "1.5 MiB"
//
// Every int64 is accepted; negative values begin with a minus sign. Pure
// functions, thread-safe; the caller owns the text. Memory: below 64 bytes
// each.

#ifndef FOOTPRINT_BASE_TEXT_FORMAT_BYTES_H_
#define FOOTPRINT_BASE_TEXT_FORMAT_BYTES_H_

#include <cstdint>
#include <string>

namespace footprint {

// Returns the rounded and the exact figure; below 1 KiB only the exact figure.
std::string FormatBytes(int64_t bytes);

// Returns three significant figures in B, KiB, MiB, GiB, TiB, PiB or EiB; four
// if the whole part has four ("1,000 KiB" to "1,023 KiB").
std::string FormatRoundedBytes(int64_t bytes);

// Returns the digits in groups of three: "1,572,864".
std::string FormatCount(int64_t count);

// Returns a short text for pictures, such as "1.2 MiB", "117 MiB" or "512 B".
// Its largest unit is TiB; below 1,024 TiB it has at most four digits.
std::string AbbreviateBytes(double bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_FORMAT_BYTES_H_
