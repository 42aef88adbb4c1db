#include "footprint/gates/importing/heaptrack_summary.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

constexpr absl::string_view kPeak = "peak heap memory consumption: ";
// The summary's last line.
constexpr absl::string_view kLeaked = "total memory leaked: ";
constexpr absl::string_view kSuffixes = "BKMGT";

absl::Status NoFigure(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("has no size that heaptrack prints after \"", kPeak,
                   "\", such as 4.08M, but \"", text, "\""));
}

// Returns the largest size that is printed as `text`.
absl::StatusOr<int64_t> LargestPrintedAs(absl::string_view text) {
  absl::string_view digits = text;
  // Some versions print "KB", others "K".
  if (digits.size() > 1 && digits[digits.size() - 2] > '9') {
    absl::ConsumeSuffix(&digits, "B");
  }
  if (digits.empty()) return NoFigure(text);
  const size_t power = kSuffixes.find(digits.back());
  if (power == absl::string_view::npos) return NoFigure(text);
  digits.remove_suffix(1);
  const size_t point = digits.find('.');
  double value = 0;
  if (digits.empty() || digits.size() > 12 ||
      digits.find_first_not_of("0123456789.") != absl::string_view::npos ||
      !absl::SimpleAtod(digits, &value)) {
    return NoFigure(text);
  }
  const double scale = std::pow(1000.0, static_cast<double>(power));
  const size_t decimals =
      point == absl::string_view::npos ? 0 : digits.size() - point - 1;
  const double half_of_last_digit =
      power == 0 ? 0 : 0.5 * std::pow(10.0, -static_cast<double>(decimals));
  const double bytes = std::ceil((value + half_of_last_digit) * scale - 1e-6);
  constexpr double kMost = 9e18;
  if (!(bytes <= kMost)) return NoFigure(text);
  return static_cast<int64_t>(bytes);
}

}  // namespace

bool LooksLikeHeaptrack(absl::string_view text) {
  // A binary file may contain these words, but is not a summary.
  if (text.find('\0') != absl::string_view::npos) return false;
  return absl::StartsWith(text, "reading file \"") ||
         absl::StrContains(text, "\ntotal runtime: ") ||
         absl::StartsWith(text, "total runtime: ");
}

absl::StatusOr<ForeignFigures> ParseHeaptrackSummary(absl::string_view text) {
  absl::string_view peak;
  bool is_whole = false;
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  // A line without a newline may lack its end.
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    absl::string_view line = lines[i];
    if (absl::ConsumePrefix(&line, kPeak)) peak = line;
    if (absl::StartsWith(line, kLeaked)) is_whole = !peak.empty();
  }
  if (!is_whole) {
    return absl::DataLossError(
        "is cut short: heaptrack_print's text ends with a summary from \"total "
        "runtime\" to \"total memory leaked\"");
  }
  const absl::StatusOr<int64_t> bytes = LargestPrintedAs(peak);
  if (!bytes.ok()) return bytes.status();
  ForeignFigures figures;
  figures.tool = "heaptrack";
  figures.counts = "requested bytes, rounded up from those that are printed";
  figures.peaks.emplace_back();
  figures.peaks.back().bytes = *bytes;
  return figures;
}

}  // namespace footprint
