#include "footprint/gates/judge/number_mistakes.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {

bool IsNegativeAllowed(MetricKind kind) {
  return kind == NET_GROWTH_USABLE_BYTES;
}

std::string DescribeIdleNumber(const char* field, const std::string& value) {
  return absl::StrCat(field, " is ", value,
                      ", which every measurement keeps, so it judges nothing; "
                      "give a number that one could break");
}

bool CheckUnitAndSign(const Threshold& threshold, const NumberField& number,
                      std::vector<RuleMistake>* mistakes) {
  const std::string metric = SchemaNameOfMetric(threshold.metric());
  const int64_t value = number.Get(threshold);
  if (number.unit != UnitOfMetric(threshold.metric())) {
    mistakes->push_back(
        {number.name,
         absl::StrCat(number.name, " on ", metric, ", which is counted in ",
                      number.unit == MetricUnit::kBytes
                          ? "calls, not in bytes; use the field that ends in "
                            "_count"
                          : "bytes; use the field that ends in _bytes")});
    return false;
  }
  if (value < 0 && !IsNegativeAllowed(threshold.metric())) {
    mistakes->push_back(
        {number.name, absl::StrCat(number.name, " is ", value, ", and ", metric,
                                   " cannot be below zero")});
    return false;
  }
  return true;
}

}  // namespace footprint
