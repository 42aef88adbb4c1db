// Parses any text as a threshold file. Either each threshold has a location, or
// each problem has a location and a message.

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"

namespace footprint {
namespace {

void ParseAnyText(absl::string_view text) {
  const ThresholdSource source = ParseThresholdFile("t.textproto", text);
  for (const Problem& problem : source.problems) {
    Require(problem.decision() == BAD_CONFIGURATION, "a problem is one");
    Require(absl::StartsWith(problem.location(), "t.textproto"),
            "a problem has a place");
    Require(!problem.message().empty(), "a problem has a text");
  }
  if (!source.problems.empty()) return;
  Require(source.file.threshold_size() > 0, "a file judges something");
  Require(
      source.lines.size() == static_cast<size_t>(source.file.threshold_size()),
      "each threshold has a line");
  for (const int line : source.lines) Require(line > 0, "lines begin at 1");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyText)

}  // namespace footprint
