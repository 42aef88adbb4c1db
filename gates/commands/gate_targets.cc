#include "footprint/gates/commands/gate_targets.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

constexpr absl::string_view kOwn = "//gates:";

// Returns whether the program was built in another workspace than Footprint's.
bool IsImported() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 &&
         absl::StrContains(absl::string_view(path, static_cast<size_t>(size)),
                           "/external/");
}

// Returns whether a program judges or shows the profiles of one workspace.
bool IsOfASuite(absl::string_view program) {
  constexpr absl::string_view kNames[] = {
      "audit", "check",   "compare", "diff",     "explain",
      "fit",   "history", "report",  "selftest", "update"};
  return std::find(std::begin(kNames), std::end(kNames), program) !=
         std::end(kNames);
}

}  // namespace

std::string GateTarget(absl::string_view program) {
  const char* const named = std::getenv("FOOTPRINT_GATE_TARGETS");
  const absl::string_view targets = named == nullptr ? "" : named;
  for (absl::string_view target : absl::StrSplit(targets, ',')) {
    if (absl::ConsumePrefix(&target, program) &&
        absl::ConsumePrefix(&target, "=")) {
      return std::string(target);
    }
  }
  if (!IsImported()) return absl::StrCat(kOwn, program);
  return IsOfASuite(program) ? absl::StrCat("//PACKAGE:", program)
                             : absl::StrCat("@footprint", kOwn, program);
}

std::string NameGateTargets(absl::string_view text) {
  std::string result;
  for (;;) {
    const size_t at = text.find(kOwn);
    absl::StrAppend(&result, text.substr(0, at));
    if (at == absl::string_view::npos) return result;
    text.remove_prefix(at + kOwn.size());
    size_t length = 0;
    while (length < text.size() &&
           (absl::ascii_islower(static_cast<unsigned char>(text[length])) ||
            text[length] == '_')) {
      ++length;
    }
    absl::StrAppend(&result, GateTarget(text.substr(0, length)));
    text.remove_prefix(length);
  }
}

}  // namespace footprint
