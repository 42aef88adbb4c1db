#include "footprint/base/text/format_bytes.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace footprint {
namespace {

// Returns the magnitude, also of the smallest int64, which has no negation.
uint64_t ComputeMagnitude(int64_t value) {
  const uint64_t bits = static_cast<uint64_t>(value);
  return value < 0 ? ~bits + 1 : bits;
}

std::string GroupDigits(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

// Returns three significant figures, or all figures of a longer whole part.
std::string ThreeFigures(double value) {
  char text[32];
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return decimals > 0 ? text : GroupDigits(std::llround(value));
}

}  // namespace

std::string FormatCount(int64_t count) {
  return absl::StrCat(count < 0 ? "-" : "",
                      GroupDigits(ComputeMagnitude(count)));
}

std::string FormatRoundedBytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB",
                                           "TiB", "PiB", "EiB"};
  const uint64_t magnitude = ComputeMagnitude(bytes);
  if (magnitude < 1024) return absl::StrCat(bytes, " B");
  double scaled = static_cast<double>(magnitude) / 1024;
  int unit = 0;
  // 1023.5 would be shown as 1,024 of the smaller unit.
  while (scaled >= 1023.5 && unit < 5) {
    scaled /= 1024;
    ++unit;
  }
  return absl::StrCat(bytes < 0 ? "-" : "", ThreeFigures(scaled), " ",
                      kUnits[unit]);
}

std::string FormatBytes(int64_t bytes) {
  if (ComputeMagnitude(bytes) < 1024) return FormatRoundedBytes(bytes);
  return absl::StrCat(FormatRoundedBytes(bytes), " (", FormatCount(bytes),
                      " B)");
}

std::string AbbreviateBytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  // 1,023.5 would be shown as 1,024.
  while (std::abs(bytes) >= 1023.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  const bool has_fraction = unit > 0 && std::abs(bytes) < 9.95;
  return absl::StrFormat("%.*f %s", has_fraction ? 1 : 0, bytes, kUnits[unit]);
}

}  // namespace footprint
