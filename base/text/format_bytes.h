// Byte counts as people read them: a rounded figure with a binary unit, and the
// exact one, since gates judge by the byte.
//
//   FormatBytes(1572864);       // "1.50 MiB (1,572,864 B)"
//   FormatBytes(512);           // "512 B"
//   FormatRoundedBytes(512000); // "500 KiB"
//   FormatCount(1572864);       // "1,572,864"
//   AbbreviateBytes(1572864);   // "1.5 MiB"
//
// Every int64 is accepted; negative values have a minus sign in front.
// Pure functions, thread-safe; the caller owns the text. Memory: below 64 bytes
// each.

#ifndef FOOTPRINT_BASE_TEXT_FORMAT_BYTES_H_
#define FOOTPRINT_BASE_TEXT_FORMAT_BYTES_H_

#include <cstdint>
#include <string>

namespace footprint {

// Rounded and exact; below 1 KiB the exact figure alone.
std::string FormatBytes(int64_t bytes);

// Three significant figures in B, KiB, MiB, GiB, TiB, PiB or EiB; four where
// the whole part has four ("1,000 KiB" to "1,023 KiB").
std::string FormatRoundedBytes(int64_t bytes);

// Digits in groups of three: "1,572,864".
std::string FormatCount(int64_t count);

// Returns a short text for pictures: "1.2 MiB", "117 MiB", "512 B": at least
// two digits, never more than four.
std::string AbbreviateBytes(double bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_FORMAT_BYTES_H_
