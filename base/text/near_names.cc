#include "footprint/base/text/near_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace footprint {
namespace {

constexpr size_t kLongestComparedName = 512;

// Returns the least number of characters to change, add or remove.
int64_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// Returns whether `name` is `end` after a prefix and a dot.
bool HasPrefix(absl::string_view name, absl::string_view end) {
  return name.size() > end.size() && absl::EndsWith(name, end) &&
         name[name.size() - end.size() - 1] == '.';
}

// Returns the distance of two names: zero if one only lacks or adds a prefix. A
// distance above `limit` may be any number above it.
int64_t NameDistance(absl::string_view wanted, absl::string_view present,
                     int64_t limit) {
  if (HasPrefix(present, wanted) || HasPrefix(wanted, present)) return 0;
  const int64_t lengths = static_cast<int64_t>(wanted.size()) -
                          static_cast<int64_t>(present.size());
  // The distance is at least the difference of the lengths.
  if (std::abs(lengths) > limit) return limit + 1;
  return EditDistance(wanted, present);
}

}  // namespace

std::vector<std::string> NearNames(
    absl::string_view wanted, absl::Span<const absl::string_view> candidates) {
  std::vector<std::pair<int64_t, absl::string_view>> near;
  if (wanted.size() > kLongestComparedName) return {};
  const int64_t limit = std::max<int64_t>(2, wanted.size() / 3);
  for (const absl::string_view candidate : candidates) {
    if (candidate.size() > kLongestComparedName) continue;
    const int64_t distance = NameDistance(wanted, candidate, limit);
    if (distance <= limit) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > 3) near.resize(3);
  std::vector<std::string> names;
  for (const auto& [distance, name] : near) names.emplace_back(name);
  return names;
}

std::string NearNamesText(absl::string_view wanted,
                          absl::Span<const absl::string_view> candidates) {
  const std::vector<std::string> near = NearNames(wanted, candidates);
  if (near.empty()) return ", and no name is similar";
  return absl::StrCat("; the closest: \"", absl::StrJoin(near, "\", \""), "\"");
}

std::string DidYouMean(absl::string_view wanted,
                       const std::vector<std::string>& candidates) {
  const std::vector<absl::string_view> names(candidates.begin(),
                                             candidates.end());
  const std::vector<std::string> near = NearNames(wanted, names);
  return near.empty() ? "" : absl::StrCat(" (did you mean \"", near[0], "\"?)");
}

}  // namespace footprint
