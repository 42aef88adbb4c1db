#include "footprint/base/text/parse_bytes.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr std::pair<const char*, int64_t> kUnits[] = {
    {"", 1},
    {"B", 1},
    {"KiB", int64_t{1} << 10},
    {"MiB", int64_t{1} << 20},
    {"GiB", int64_t{1} << 30},
    {"TiB", int64_t{1} << 40},
    {"kB", 1000},
    {"MB", 1000 * 1000},
    {"GB", 1000 * 1000 * 1000},
    {"TB", int64_t{1000} * 1000 * 1000 * 1000},
};
// The product of so many digits and the largest unit fits into 128 bits. A
// whole number below 2^63 has at most 19 digits, apart from zeros in front.
constexpr size_t kMostDigits = 24;

size_t CountDigits(absl::string_view text) {
  size_t count = 0;
  while (count < text.size() &&
         absl::ascii_isdigit(static_cast<unsigned char>(text[count]))) {
    ++count;
  }
  return count;
}

absl::Status Refuse(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a number of bytes: ", why,
                   "; write for example 600MiB"));
}

// `digits` is a number whose last `fraction_digits` are after the point.
absl::StatusOr<int64_t> Multiply(absl::string_view text,
                                 absl::string_view digits,
                                 size_t fraction_digits, int64_t unit_bytes) {
  if (fraction_digits > 0 && unit_bytes == 1) {
    return Refuse(text, "a byte has no fraction");
  }
  if (digits.size() > kMostDigits) return Refuse(text, "too many digits");
  absl::uint128 bytes = 0;
  for (const char digit : digits) {
    bytes = bytes * 10 + static_cast<unsigned>(digit - '0');
  }
  bytes *= static_cast<uint64_t>(unit_bytes);
  for (size_t i = 0; i < fraction_digits; ++i) bytes /= 10;
  if (bytes > absl::uint128(INT64_MAX)) {
    return Refuse(text, "it is 2^63 or more");
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  absl::string_view rest = text;
  const size_t whole_digits = CountDigits(rest);
  if (whole_digits == 0) return Refuse(text, "it must begin with a digit");
  std::string digits(rest.substr(0, whole_digits));
  rest.remove_prefix(whole_digits);
  size_t fraction_digits = 0;
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction_digits = CountDigits(rest);
    if (fraction_digits == 0) return Refuse(text, "no digit after the point");
    absl::StrAppend(&digits, rest.substr(0, fraction_digits));
    rest.remove_prefix(fraction_digits);
  }
  if (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  for (const auto& [name, unit_bytes] : kUnits) {
    if (rest == name) {
      return Multiply(text, digits, fraction_digits, unit_bytes);
    }
  }
  return Refuse(text, absl::StrCat("\"", rest,
                                   "\" is not B, KiB, MiB, GiB, TiB, kB, MB, "
                                   "GB or TB"));
}

}  // namespace footprint
