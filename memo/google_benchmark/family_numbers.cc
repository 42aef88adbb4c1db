#include "footprint/memo/google_benchmark/family_numbers.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace footprint::memo_internal {

FamilyNumbers::FamilyNumbers(const std::vector<std::string>& instance_names) {
  for (const std::string& name : instance_names) {
    places_.try_emplace(name, static_cast<int64_t>(places_.size()));
  }
}

void FamilyNumbers::Set(benchmark::BenchmarkReporter::Run* run) {
  const std::string instance = run->run_name.str();
  run->family_index = NumberOfFamily(run->run_name.function_name, instance);
  const auto place = places_.find(instance);
  if (place == places_.end() || place->second < run->family_index) return;
  run->per_family_instance_index = place->second - run->family_index;
}

int64_t FamilyNumbers::NumberOfFamily(const std::string& family,
                                      const std::string& instance) {
  const auto [number, is_new] = numbers_.try_emplace(family, 0);
  if (!is_new) return number->second;
  const int64_t behind_all =
      static_cast<int64_t>(places_.size() + given_.size());
  const auto own = places_.find(instance);
  int64_t first = own != places_.end() ? own->second : behind_all;
  const std::string prefix = family + "/";
  for (auto place = places_.lower_bound(prefix);
       place != places_.end() && absl::StartsWith(place->first, prefix);
       ++place) {
    first = std::min(first, place->second);
  }
  // The place may be taken, since another family's name may begin with this
  // one's name and a slash.
  if (given_.count(first) > 0) first = behind_all;
  given_.insert(first);
  return number->second = first;
}

}  // namespace footprint::memo_internal
