#include "footprint/trainer_manager/networks/parameter_group.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace footprint {

// Each * matches as few characters as possible. A later * can always match more
// instead of an earlier one, so only the last one is tried again.
bool MatchesPattern(absl::string_view pattern, absl::string_view name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = absl::string_view::npos;  // the last * so far
  size_t after_star = 0;  // the position in the name after its match
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      n = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

absl::Status CheckGroup(const ParameterGroup& group) {
  const auto refuse = [&group](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("the group of parameters \"", group.pattern, "\" ", why));
  };
  if (group.pattern.empty()) return refuse("has an empty pattern");
  const bool factor_is_good =
      group.rate_factor > 0 && std::isfinite(group.rate_factor);
  if (!factor_is_good) {
    return refuse(absl::StrCat("has the rate factor ", group.rate_factor,
                               "; it must be finite and above 0; freeze the "
                               "group if it is not to be trained"));
  }
  const float decay = group.weight_decay.value_or(0);
  if (!(decay >= 0 && std::isfinite(decay))) {
    return refuse(absl::StrCat("has the decay ", decay,
                               "; it must be finite and at least 0"));
  }
  if (group.frozen && (group.rate_factor != 1 || group.weight_decay)) {
    return refuse(
        "is frozen, so it has no rate and no decay: leave them out, or do not "
        "freeze it");
  }
  return absl::OkStatus();
}

}  // namespace footprint
