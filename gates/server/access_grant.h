// Describes what the bearer of a token may do, and writes it as text.
//
//   AccessGrant grant = {"ci", kSubmitScope | kReadScope};
//   grant.limits = *ParseLimits("most_waiting=20,most_time=600");
//   absl::Status status = CheckGrant(grant);
//
// Pure functions and a value type, thread-safe. Memory: the texts.

#ifndef FOOTPRINT_GATES_SERVER_ACCESS_GRANT_H_
#define FOOTPRINT_GATES_SERVER_ACCESS_GRANT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/store/submitter_limits.h"

namespace footprint {

// The scopes of a token: it may submit bundles, read verdicts, or make backups.
constexpr unsigned kSubmitScope = 1;
constexpr unsigned kReadScope = 2;
constexpr unsigned kAdminScope = 4;

struct AccessGrant {
  // The submitter's name in histories: letters, digits, '-', '_' and '.' only.
  std::string name;
  unsigned scopes = 0;
  int64_t expiry_unix_seconds = 0;  // 0: never
  SubmitterLimits limits = {};
  // Patterns of the labels that belong to this token (label_pattern.h).
  std::vector<std::string> owned_labels = {};
  // The claim "sub" of a token of OpenID Connect, for the audit log.
  std::string subject = {};
};

// Parses scopes: one or more of "submit,read,admin" in any order. Returns
// InvalidArgument, which lists the scopes, for any other word, also an empty
// one. ScopesText returns the text of scopes.
absl::StatusOr<unsigned> ParseScopes(absl::string_view text);
std::string ScopesText(unsigned scopes);

// Parses limits: "most_waiting=20,most_budget=1073741824,most_time=600,
// cpu_weight=400" without the line's end, in trials without a verdict, bytes,
// seconds and the kernel's weights, any of them in any order.
// Returns InvalidArgument, which lists them, for any other text.
absl::StatusOr<SubmitterLimits> ParseLimits(absl::string_view text);
// Returns the text of limits; empty if there are none.
std::string LimitsText(const SubmitterLimits& limits);

// Returns InvalidArgument, with the reason, if the name, the expiry or the
// pattern of a label is not valid, or there is no scope.
absl::Status CheckGrant(const AccessGrant& grant);

}  // namespace footprint

// Tested by access_tokens_test.

#endif  // FOOTPRINT_GATES_SERVER_ACCESS_GRANT_H_
