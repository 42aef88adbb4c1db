#include "footprint/gates/judge/threshold_numbers.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace footprint {
namespace {

absl::optional<int64_t> Find(const Threshold& threshold, RuleKind kind) {
  const NumberField* const field = FindNumber(threshold, kind);
  if (field == nullptr) return absl::nullopt;
  return field->Get(threshold);
}

}  // namespace

#define FOOTPRINT_NUMBER_FIELD(name, unit, kind)                             \
  {                                                                          \
#name, MetricUnit::unit, kind, &Threshold::has_##name, &Threshold::name, \
        &Threshold::set_##name                                               \
  }

const std::array<NumberField, 6> kNumberFields = {
    {FOOTPRINT_NUMBER_FIELD(max_bytes, kBytes, MAXIMUM),
     FOOTPRINT_NUMBER_FIELD(exact_bytes, kBytes, EXACT_VALUE),
     FOOTPRINT_NUMBER_FIELD(max_count, kCount, MAXIMUM),
     FOOTPRINT_NUMBER_FIELD(exact_count, kCount, EXACT_VALUE),
     FOOTPRINT_NUMBER_FIELD(min_bytes, kBytes, MINIMUM),
     FOOTPRINT_NUMBER_FIELD(min_count, kCount, MINIMUM)}};

#undef FOOTPRINT_NUMBER_FIELD

const NumberField* FindNumber(const Threshold& threshold, RuleKind kind) {
  for (const NumberField& field : kNumberFields) {
    if (field.kind == kind && field.IsIn(threshold)) return &field;
  }
  return nullptr;
}

const NumberField* FindLimit(const Threshold& threshold) {
  const NumberField* const maximum = FindNumber(threshold, MAXIMUM);
  return maximum != nullptr ? maximum : FindNumber(threshold, EXACT_VALUE);
}

ThresholdNumbers ReadNumbers(const Threshold& threshold) {
  return {Find(threshold, MAXIMUM), Find(threshold, EXACT_VALUE),
          Find(threshold, MINIMUM)};
}

int64_t RatioLimit(double ratio, int64_t baseline) {
  // Relative error of a double that was read from decimal digits, with a
  // margin.
  constexpr long double kBinaryRounding = 4e-16L;
  const long double product =
      static_cast<long double>(ratio) * static_cast<long double>(baseline);
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  if (product >= static_cast<long double>(kLargest)) return kLargest;
  const long double nearest = std::round(product);
  const bool is_whole =
      std::fabs(product - nearest) <= std::fabs(product) * kBinaryRounding;
  return static_cast<int64_t>(is_whole ? nearest : std::floor(product));
}

std::string RatioText(double ratio) {
  const std::string text = absl::StrCat(ratio);
  double again = 0;
  return absl::SimpleAtod(text, &again) && again == ratio
             ? text
             : absl::StrFormat("%.17g", ratio);
}

}  // namespace footprint
