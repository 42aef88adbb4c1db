#include "footprint/gates/server/access_grant.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "footprint/gates/server/label_pattern.h"

namespace footprint {
namespace {

constexpr size_t kMostNameLength = 64;

struct Limit {
  const char* name;
  int64_t SubmitterLimits::*value;
};
constexpr Limit kLimits[] = {
    {"most_waiting", &SubmitterLimits::most_undecided},
    {"most_budget", &SubmitterLimits::most_budget_bytes},
    {"most_time", &SubmitterLimits::most_seconds},
    {"cpu_weight", &SubmitterLimits::cpu_weight}};

struct Scope {
  const char* name;
  unsigned bit;
};
constexpr Scope kScopes[] = {
    {"submit", kSubmitScope}, {"read", kReadScope}, {"admin", kAdminScope}};

bool IsName(absl::string_view name) {
  return !name.empty() && name.size() <= kMostNameLength &&
         std::all_of(name.begin(), name.end(), [](char each) {
           return absl::ascii_isalnum(static_cast<unsigned char>(each)) ||
                  each == '-' || each == '_' || each == '.';
         });
}

}  // namespace

absl::StatusOr<unsigned> ParseScopes(absl::string_view text) {
  unsigned scopes = 0;
  for (const absl::string_view name : absl::StrSplit(text, ',')) {
    const auto* const found =
        std::find_if(std::begin(kScopes), std::end(kScopes),
                     [&](const Scope& scope) { return scope.name == name; });
    if (found == std::end(kScopes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("no scope '", absl::CHexEscape(name),
                       "'; there are submit, read and admin"));
    }
    scopes |= found->bit;
  }
  return scopes;
}

std::string ScopesText(unsigned scopes) {
  std::vector<std::string> names;
  for (const Scope& scope : kScopes) {
    if ((scopes & scope.bit) != 0) names.push_back(scope.name);
  }
  return absl::StrJoin(names, ",");
}

absl::StatusOr<SubmitterLimits> ParseLimits(absl::string_view text) {
  SubmitterLimits limits;
  for (const absl::string_view each : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> limit =
        absl::StrSplit(each, absl::MaxSplits('=', 1));
    const auto* const found = std::find_if(
        std::begin(kLimits), std::end(kLimits),
        [&](const Limit& known) { return known.name == limit.first; });
    int64_t value = 0;
    if (found == std::end(kLimits) || !absl::SimpleAtoi(limit.second, &value) ||
        value < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", absl::CHexEscape(each),
          "' is no limit; there are most_waiting, most_budget, most_time and "
          "cpu_weight, each with '=' and a number from 1"));
    }
    limits.*found->value = value;
  }
  return limits;
}

std::string LimitsText(const SubmitterLimits& limits) {
  std::vector<std::string> texts;
  for (const Limit& limit : kLimits) {
    if (limits.*limit.value > 0) {
      texts.push_back(absl::StrCat(limit.name, "=", limits.*limit.value));
    }
  }
  return absl::StrJoin(texts, ",");
}

absl::Status CheckGrant(const AccessGrant& grant) {
  if (!IsName(grant.name) || grant.scopes == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a token has a name of at most ", kMostNameLength,
        " letters, digits, '-', '_' and '.', and at least one scope"));
  }
  if (grant.expiry_unix_seconds < 0) {
    return absl::InvalidArgumentError(
        "a token expires at a number of seconds since 1970, or at 0: never");
  }
  absl::Status status;
  for (const std::string& pattern : grant.owned_labels) {
    status.Update(CheckLabelPattern(pattern));
  }
  return status;
}

}  // namespace footprint
