#include "footprint/gates/server/label_pattern.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/selector.h"

namespace footprint {
namespace {

constexpr size_t kMostPatternBytes = 256;

}  // namespace

absl::Status CheckLabelPattern(absl::string_view pattern) {
  const bool is_line = !pattern.empty() &&
                       pattern.size() <= kMostPatternBytes &&
                       pattern.find_first_of(" ,") == absl::string_view::npos &&
                       EscapeForTerminal(pattern) == pattern;
  if (is_line && pattern != "/..." && IsGlob(pattern)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", EscapeForTerminal(pattern.substr(0, kMostPatternBytes)),
      "' is no pattern of labels; write for example //team_a/... or "
      "//team_a:fit-*, of at most ",
      kMostPatternBytes,
      " bytes of UTF-8, without blanks, control characters and commas, and a "
      "backslash only before '*' or "
      "another backslash"));
}

bool LabelMatches(absl::string_view pattern, absl::string_view label) {
  if (pattern == "//...") return GlobMatches("//*", label);
  absl::string_view package = pattern;
  if (!absl::ConsumeSuffix(&package, "/...")) {
    return GlobMatches(pattern, label);
  }
  // A slash was forgotten; the rest would match every label.
  if (package.empty()) return false;
  return GlobMatches(package, label) ||
         GlobMatches(absl::StrCat(package, ":*"), label) ||
         GlobMatches(absl::StrCat(package, "/*"), label);
}

}  // namespace footprint
