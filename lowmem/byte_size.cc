#include "footprint/lowmem/byte_size.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace footprint {
namespace {

struct Unit {
  const char* name;
  double bytes;
};

constexpr Unit kUnits[] = {{"", 1},
                           {"B", 1},
                           {"KiB", 1024},
                           {"MiB", 1024 * 1024},
                           {"GiB", 1024 * 1024 * 1024},
                           {"kB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9}};
constexpr double kLargest = 4.6e18;

}  // namespace

absl::StatusOr<int64_t> ParseByteSize(absl::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (absl::ascii_isdigit(text[end]) || text[end] == '.')) {
    ++end;
  }
  double number = 0;
  const absl::string_view unit_name =
      absl::StripAsciiWhitespace(text.substr(end));
  if (absl::SimpleAtod(text.substr(0, end), &number)) {
    for (const Unit& unit : kUnits) {
      if (unit_name == unit.name && number * unit.bytes <= kLargest) {
        return static_cast<int64_t>(number * unit.bytes);
      }
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a number of bytes, such as 16MiB"));
}

std::string ByteSizeText(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1024) return absl::StrFormat("%.1f KiB", kib);
  if (kib < 1024 * 1024) return absl::StrFormat("%.2f MiB", kib / 1024);
  return absl::StrFormat("%.2f GiB", kib / 1024 / 1024);
}

}  // namespace footprint
