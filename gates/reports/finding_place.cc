#include "footprint/gates/reports/finding_place.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/files/fingerprint.h"

namespace footprint {
namespace {

// Removes ":NUMBER" from the end of `text` and returns the number. Returns 0
// and removes nothing if there is none.
int TakeNumber(absl::string_view* text) {
  const size_t colon = text->rfind(':');
  if (colon == absl::string_view::npos) return 0;
  const absl::string_view digits = text->substr(colon + 1);
  int number = 0;
  if (digits.find_first_not_of("0123456789") != absl::string_view::npos ||
      !absl::SimpleAtoi(digits, &number) || number < 1) {
    return 0;
  }
  *text = text->substr(0, colon);
  return number;
}

std::string HashText(const std::string& text) {
  return absl::StrFormat(
      "%016x", Fingerprint(text.data(), static_cast<int64_t>(text.size())));
}

// Returns a part of a key with its length, so that different sequences of parts
// give different keys.
std::string Part(absl::string_view text) {
  return absl::StrCat(text.size(), ":", text);
}

}  // namespace

FindingPlace ParsePlace(absl::string_view location) {
  FindingPlace place;
  // The target of a label may be a number, which is not a line.
  if (absl::StartsWith(location, "//") || absl::StartsWith(location, "@")) {
    return place;
  }
  absl::string_view path = location;
  const int last = TakeNumber(&path);
  const int before = last == 0 ? 0 : TakeNumber(&path);
  if (last == 0 && !absl::EndsWith(path, ".textproto")) return place;
  if (path.empty()) return place;
  place.path = std::string(path);
  place.line = before == 0 ? last : before;
  place.column = before == 0 ? 0 : last;
  return place;
}

std::string StableKey(const Judgement& judgement) {
  return HashText(absl::StrCat(
      Part(judgement.label()), Part(judgement.benchmark()),
      Part(judgement.phase()), judgement.metric(), ",", judgement.rule(), ",",
      Part(ParsePlace(judgement.threshold_location()).path)));
}

std::string StableKey(const Problem& problem) {
  const FindingPlace place = ParsePlace(problem.location());
  return HashText(absl::StrCat(
      "problem", Part(place.path.empty() ? problem.location() : place.path),
      Part(problem.message())));
}

}  // namespace footprint
