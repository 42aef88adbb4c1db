#include "footprint/gates/judge/written_limit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/gates/judge/headroom.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

bool CountsBytes(MetricKind metric) {
  return UnitOfMetric(metric) == MetricUnit::kBytes;
}

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

// Parses bytes with their unit, or calls, which have none.
absl::StatusOr<int64_t> ParseFigure(absl::string_view text, MetricKind metric) {
  if (CountsBytes(metric)) return ParseBytes(text);
  int64_t count = 0;
  if (!text.empty() && IsDigit(text[0]) && absl::SimpleAtoi(text, &count)) {
    return count;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is no number of calls, which ",
      SchemaNameOfMetric(metric), " counts; write for example 1000"));
}

absl::StatusOr<Headroom> ParseDistance(absl::string_view text,
                                       MetricKind metric) {
  Headroom above;
  absl::string_view number = text;
  if (absl::ConsumeSuffix(&number, "%")) {
    double percent = 0;
    if (number.empty() || !IsDigit(number[0]) ||
        !absl::SimpleAtod(number, &percent) || !std::isfinite(percent)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text,
                       "\" is no percentage; write for example "
                       "\"24 MB + 10 %\""));
    }
    above.set_percent(percent);
    return above;
  }
  const absl::StatusOr<int64_t> more = ParseFigure(text, metric);
  if (!more.ok()) return more.status();
  above.set_bytes(*more);
  return above;
}

// The form of a written number: "1.50 GiB" has two digits after the point.
struct NumberForm {
  int64_t unit = 1;
  int decimals = 0;
  std::string suffix;  // " GiB"
};

NumberForm FindForm(absl::string_view figure) {
  NumberForm form;
  size_t at = 0;
  while (at < figure.size() && IsDigit(figure[at])) ++at;
  if (at < figure.size() && figure[at] == '.') {
    for (++at; at < figure.size() && IsDigit(figure[at]); ++at) {
      ++form.decimals;
    }
  }
  form.suffix = std::string(figure.substr(at));
  const absl::StatusOr<int64_t> unit =
      ParseBytes(absl::StrCat("1", form.suffix));
  if (unit.ok()) form.unit = *unit;
  return form;
}

// Returns the form of a figure that nobody has written yet: three digits or
// more.
NumberForm ChooseForm(MetricKind metric, int64_t value) {
  NumberForm form;
  if (!CountsBytes(metric)) return form;
  form.suffix = " B";
  for (const char* unit : {" kB", " MB", " GB", " TB"}) {
    if (value / form.unit < 1000) break;
    form.unit *= 1000;
    form.suffix = unit;
  }
  return form;
}

// Returns `value` x 10^decimals.
absl::uint128 Shift(int64_t value, int decimals) {
  absl::uint128 shifted = static_cast<uint64_t>(value);
  for (int i = 0; i < decimals; ++i) shifted *= 10;
  return shifted;
}

// Returns the figure's digits without their point, rounded up or down.
absl::uint128 Scale(int64_t value, const NumberForm& form, int decimals,
                    bool is_rounded_up) {
  const absl::uint128 unit = static_cast<uint64_t>(form.unit);
  return (Shift(value, decimals) + (is_rounded_up ? unit - 1 : 0)) / unit;
}

// Returns the number of decimals in `form`, and more while the value is not
// exact and has fewer than three digits.
int ChooseDecimals(int64_t value, const NumberForm& form) {
  constexpr int kThreeDigits = 100;
  constexpr int kMostDecimals = 12;  // those of a byte in TB
  const absl::uint128 unit = static_cast<uint64_t>(form.unit);
  int decimals = form.unit == 1 ? 0 : std::min(form.decimals, kMostDecimals);
  while (decimals < kMostDecimals && Shift(value, decimals) % unit != 0 &&
         Scale(value, form, decimals, false) < kThreeDigits) {
    ++decimals;
  }
  return decimals;
}

// Writes the figure in this form. `value` must not be negative.
std::string WriteFigure(int64_t value, const NumberForm& form,
                        bool is_rounded_up) {
  constexpr int kBase = 10;
  const int decimals = ChooseDecimals(value, form);
  absl::uint128 rest = Scale(value, form, decimals, is_rounded_up);
  std::string digits;
  for (int written = 0; written <= decimals || rest > 0; ++written) {
    if (written > 0 && written == decimals) digits += '.';
    digits += static_cast<char>('0' + static_cast<int>(rest % kBase));
    rest /= kBase;
  }
  std::reverse(digits.begin(), digits.end());
  return digits + form.suffix;
}

// The figure of a text, and the text from its "+" on.
struct Parts {
  absl::string_view figure;
  absl::string_view distance;
};

Parts Split(absl::string_view text) {
  const size_t plus = text.find('+');
  Parts parts;
  parts.figure = absl::StripAsciiWhitespace(text.substr(0, plus));
  if (plus != absl::string_view::npos) {
    parts.distance = absl::StripAsciiWhitespace(text.substr(plus));
  }
  return parts;
}

RuleMistake MakeMistake(const char* field, const std::string& text,
                        absl::string_view why) {
  return {field, absl::StrCat(field, " is \"", text, "\": ", why)};
}

}  // namespace

int64_t WrittenLimit::ComputeNumber(MetricKind metric) const {
  if (!figure.has_value()) return 0;
  // ComputeMaximum ignores a distance in bytes for counts, but here it is in
  // calls.
  if (above.has_bytes()) return AddUpToLargest(*figure, above.bytes());
  return ComputeMaximum(above, metric, *figure).value_or(*figure);
}

absl::StatusOr<WrittenLimit> ParseWrittenLimit(absl::string_view text,
                                               MetricKind metric) {
  const Parts parts = Split(text);
  WrittenLimit limit;
  if (!parts.figure.empty() || parts.distance.empty()) {
    const absl::StatusOr<int64_t> figure = ParseFigure(parts.figure, metric);
    if (!figure.ok()) return figure.status();
    limit.figure = *figure;
  }
  if (parts.distance.empty()) return limit;
  absl::StatusOr<Headroom> above = ParseDistance(
      absl::StripLeadingAsciiWhitespace(parts.distance.substr(1)), metric);
  if (!above.ok()) return above.status();
  limit.above = *std::move(above);
  return limit;
}

std::vector<RuleMistake> ResolveWrittenLimits(Threshold* threshold) {
  std::vector<RuleMistake> mistakes;
  const MetricKind metric = threshold->metric();
  // The check of the metric reports an unknown one.
  if (UnitOfMetric(metric) == MetricUnit::kNone) return mistakes;
  if (!threshold->max().empty()) {
    const absl::StatusOr<WrittenLimit> limit =
        ParseWrittenLimit(threshold->max(), metric);
    if (threshold->rule_case() != Threshold::RULE_NOT_SET) {
      mistakes.push_back(MakeMistake(
          "max", threshold->max(),
          "it stands beside another maximum, exact value or ratio; keep one"));
    } else if (!limit.ok()) {
      mistakes.push_back(
          MakeMistake("max", threshold->max(), limit.status().message()));
    } else if (CountsBytes(metric)) {
      threshold->set_max_bytes(limit->ComputeNumber(metric));
    } else {
      threshold->set_max_count(limit->ComputeNumber(metric));
    }
  }
  if (!threshold->min().empty()) {
    const absl::StatusOr<int64_t> figure =
        ParseFigure(absl::StripAsciiWhitespace(threshold->min()), metric);
    if (threshold->has_min_bytes() || threshold->has_min_count()) {
      mistakes.push_back(MakeMistake("min", threshold->min(),
                                     "it stands beside another minimum; keep "
                                     "one"));
    } else if (!figure.ok()) {
      mistakes.push_back(
          MakeMistake("min", threshold->min(), figure.status().message()));
    } else if (CountsBytes(metric)) {
      threshold->set_min_bytes(*figure);
    } else {
      threshold->set_min_count(*figure);
    }
  }
  return mistakes;
}

bool AwaitsFigure(const Threshold& threshold) {
  return !threshold.max().empty() && Split(threshold.max()).figure.empty();
}

std::string RewriteMaximum(absl::string_view written, MetricKind metric,
                           int64_t measured, int64_t wanted) {
  const Parts parts = Split(written);
  const int64_t value =
      std::max<int64_t>(0, parts.distance.empty() ? wanted : measured);
  const NumberForm form =
      parts.figure.empty() ? ChooseForm(metric, value) : FindForm(parts.figure);
  const std::string distance =
      parts.distance.empty() ? "" : absl::StrCat(" ", parts.distance);
  const std::string text = WriteFigure(value, form, true) + distance;
  // The rounded number may be 2^63 or more.
  if (ParseWrittenLimit(text, metric).ok()) return text;
  return absl::StrCat(value, distance);
}

std::string RewriteMinimum(absl::string_view written, MetricKind /*metric*/,
                           int64_t wanted) {
  return WriteFigure(std::max<int64_t>(0, wanted),
                     FindForm(absl::StripAsciiWhitespace(written)), false);
}

}  // namespace footprint
