#include "footprint/gates/judge/measured_families.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace footprint {
namespace {

MeasuredSize DescribeSize(const MeasurementIndex& index,
                          const Measurement& member) {
  MeasuredSize size;
  size.benchmark = index.BenchmarkAt(member).name();
  for (const Argument& argument : index.BenchmarkAt(member).arguments()) {
    size.arguments[argument.name()] = argument.value();
  }
  size.bytes = member.metric->value();
  return size;
}

}  // namespace

std::vector<MeasuredFamily> CollectFamilies(
    const MeasurementIndex& index, const std::vector<Measurement>& members) {
  std::map<std::string, MeasuredFamily> families;
  for (const Measurement& member : members) {
    MeasuredFamily& family = families[index.PhaseAt(member)];
    if (family.sizes.empty() ||
        member.metric->value() > family.largest.metric->value()) {
      family.largest = member;
    }
    family.determinism =
        std::max(family.determinism, member.metric->determinism());
    family.sizes.push_back(DescribeSize(index, member));
  }
  std::vector<MeasuredFamily> result;
  for (auto& [phase, family] : families) result.push_back(std::move(family));
  return result;
}

}  // namespace footprint
