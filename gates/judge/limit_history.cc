#include "footprint/gates/judge/limit_history.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/judge/written_limit.h"

namespace footprint {
namespace {

std::string Text(int64_t value) { return absl::StrCat(value); }

std::string Text(double value) { return RatioText(value); }

// Dates are compared as texts, so every year has four digits.
bool IsDay(const std::string& text) {
  constexpr size_t kDayBytes = 10;
  absl::CivilDay day;
  return text.size() == kDayBytes && text[0] != '-' &&
         absl::ParseCivilTime(text, &day) && absl::FormatCivilTime(day) == text;
}

// Checks the values of one number of a threshold through its history.
class Series {
 public:
  // `name` is the number's name in entries: "value", "ratio" or "minimum".
  Series(std::string name, bool is_recorded,
         std::vector<HistoryProblem>* problems)
      : name_(std::move(name)),
        is_recorded_(is_recorded),
        problems_(problems) {}

  template <typename Value>
  void Add(int entry, const absl::optional<Value>& old_value,
           const absl::optional<Value>& new_value) {
    if (!new_value.has_value()) {
      if (old_value.has_value()) {
        Say(entry, absl::StrCat("has an old_", name_, " and no new_", name_,
                                "; say what it became"));
      }
      return;
    }
    const std::string began = old_value.has_value() ? Text(*old_value) : "";
    if (!last_.empty() && began != last_) {
      Say(entry,
          began.empty()
              ? absl::StrCat("has no old_", name_, "; write old_", name_, ": ",
                             last_, ", which the entries above end with")
              : absl::StrCat("begins with ", began,
                             ", where the entries above end with ", last_,
                             ": a change between them has no entry; add it"));
    }
    if (last_.empty() && !began.empty() && is_recorded_) {
      Say(entry, absl::StrCat("begins with old_", name_, ": ", began,
                              ", and the file says \"recorded: true\": what is "
                              "above it was cut off; give it back, or write "
                              "what the ",
                              name_, " began with: new_", name_, ": ", began));
    }
    last_ = Text(*new_value);
  }

  // Checks that the history ends with `now`, the threshold's present value.
  template <typename Value>
  void End(const absl::optional<Value>& now) {
    const std::string text = now.has_value() ? Text(*now) : "";
    if (text == last_) return;
    if (last_.empty()) {
      if (!is_recorded_) return;
      Say(-1, absl::StrCat(
                  "has no history of its ", name_,
                  ", and the file says \"recorded: true\"; run the update "
                  "with --record --reason=\"...\", which adds history { date: "
                  "\"YYYY-MM-DD\" new_",
                  name_, ": ", text, " reason: \"...\" }"));
    } else if (text.empty()) {
      Say(-1, absl::StrCat("has a history of a ", name_,
                           " and none now; give it back, or make this a "
                           "threshold without that history"));
    } else {
      Say(-1, absl::StrCat("has the ", name_, " ", text,
                           ", and its history ends with ", last_,
                           ": it was changed by hand; put it back, or say why "
                           "with the update's --record --reason=\"...\", which "
                           "adds history { date: \"YYYY-MM-DD\" old_",
                           name_, ": ", last_, " new_", name_, ": ", text,
                           " reason: \"...\" }"));
    }
  }

 private:
  void Say(int entry, std::string message) {
    problems_->push_back({entry, std::move(message)});
  }

  const std::string name_;
  const bool is_recorded_;
  std::vector<HistoryProblem>* const problems_;
  std::string last_;
};

template <typename Value>
absl::optional<Value> If(bool has, Value value) {
  return has ? absl::make_optional(value) : absl::nullopt;
}

absl::optional<double> FindRatio(const Threshold& threshold) {
  return If(threshold.has_max_ratio(), threshold.max_ratio().ratio());
}

// Returns the severity of a rule and those of its numbers that are not limits:
// "BLOCK", "AUDIT", "BLOCK share 0.95 confidence 0.95".
std::string ListHeldTerms(const Threshold& threshold) {
  return absl::StrCat(
      std::string(Severity_Name(threshold.severity() == SEVERITY_UNSPECIFIED
                                    ? BLOCK
                                    : threshold.severity())),
      DescribeTerms(threshold));
}

// Returns the terms that the history ends with. Sets `has_any` to whether an
// entry states any.
std::string RecordedTerms(const Threshold& threshold, bool* has_any) {
  std::string terms = Severity_Name(BLOCK);
  *has_any = false;
  for (const HistoryEntry& entry : threshold.history()) {
    if (!entry.has_terms()) continue;
    terms = entry.terms();
    *has_any = true;
  }
  return terms;
}

void CheckTerms(const Threshold& threshold, bool is_recorded,
                std::vector<HistoryProblem>* problems) {
  bool has_any = false;
  const std::string recorded = RecordedTerms(threshold, &has_any);
  const std::string terms = ListHeldTerms(threshold);
  if ((!is_recorded && !has_any) || terms == recorded) return;
  problems->push_back(
      {-1, absl::StrCat(
               "says \"", terms, "\", and its history ends with \"", recorded,
               "\": it was changed by hand; put it back, or say why with the "
               "update's --record --reason=\"...\", which adds history { date: "
               "\"YYYY-MM-DD\" terms: \"",
               terms, "\" reason: \"...\" }")});
}

struct Character {
  uint32_t code = 0;  // 0: not valid UTF-8
  size_t length = 1;
};

// Returns the first character of `text`, which must not be empty.
Character NextCharacter(absl::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  uint32_t code = first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    code = code << 6 | (next & 0x3Fu);
  }
  return {code, length};
}

// Returns false for characters that are not visible by themselves: control
// characters, spaces, joiners, combining marks, and the private and special
// planes.
bool ShowsSomething(uint32_t code) {
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  constexpr Range kInvisible[] = {
      {0x0, 0x20},        {0x7f, 0xa0},       {0xad, 0xad},
      {0x300, 0x36f},     {0x61c, 0x61c},     {0x115f, 0x1160},
      {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
      {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff},   {0x2000, 0x200f},
      {0x2028, 0x202f},   {0x205f, 0x206f},   {0x20d0, 0x20ff},
      {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
      {0xd800, 0xf8ff},   {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f},
      {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffc},
      {0xfffe, 0xffff},   {0x13430, 0x13455}, {0x1bca0, 0x1bca3},
      {0x1d159, 0x1d159}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
  };
  for (const Range& range : kInvisible) {
    if (code >= range.first && code <= range.last) return false;
  }
  return true;
}

// Checks the reason and the dates of an entry, and that it has a new number or
// terms.
void CheckWords(const Threshold& threshold, int number,
                std::vector<HistoryProblem>* problems) {
  const HistoryEntry& entry = threshold.history(number);
  if (!IsReason(entry.reason())) {
    problems->push_back({number, "gives no reason; say why the limit moved"});
  }
  if (!IsDay(entry.date())) {
    problems->push_back(
        {number,
         absl::StrCat("has the date \"", entry.date(),
                      "\", which is not a day; write it as 2026-11-21")});
  } else if (number > 0 && IsDay(threshold.history(number - 1).date()) &&
             entry.date() < threshold.history(number - 1).date()) {
    problems->push_back(
        {number, absl::StrCat("is of ", entry.date(), ", before the entry of ",
                              threshold.history(number - 1).date(),
                              " above it; entries are appended, never moved")});
  }
  if (!entry.expires().empty() &&
      (!IsDay(entry.expires()) || entry.expires() < entry.date())) {
    problems->push_back(
        {number, absl::StrCat(
                     "expires on \"", entry.expires(),
                     "\", which is not a day, or one before its date; write it "
                     "as 2026-12-31")});
  }
  if (!entry.has_new_value() && !entry.has_new_ratio() &&
      !entry.has_new_minimum() && !entry.has_terms()) {
    problems->push_back({number,
                         "has no new value; say what became of the "
                         "limit"});
  }
}

}  // namespace

std::vector<HistoryProblem> CheckHistory(const Threshold& threshold,
                                         bool is_recorded) {
  std::vector<HistoryProblem> problems;
  Series limits("value", is_recorded, &problems);
  Series ratios("ratio", is_recorded, &problems);
  Series minima("minimum", is_recorded, &problems);
  for (int i = 0; i < threshold.history_size(); ++i) {
    const HistoryEntry& entry = threshold.history(i);
    CheckWords(threshold, i, &problems);
    limits.Add(i, If(entry.has_old_value(), entry.old_value()),
               If(entry.has_new_value(), entry.new_value()));
    ratios.Add(i, If(entry.has_old_ratio(), entry.old_ratio()),
               If(entry.has_new_ratio(), entry.new_ratio()));
    minima.Add(i, If(entry.has_old_minimum(), entry.old_minimum()),
               If(entry.has_new_minimum(), entry.new_minimum()));
  }
  // A limit without a figure has no value yet: the update command writes the
  // first one.
  if (!AwaitsFigure(threshold)) limits.End(ReadNumbers(threshold).limit());
  ratios.End(FindRatio(threshold));
  minima.End(ReadNumbers(threshold).minimum);
  CheckTerms(threshold, is_recorded, &problems);
  return problems;
}

HistoryEntry FirstEntry(const Threshold& threshold, absl::string_view date,
                        absl::string_view reason) {
  HistoryEntry entry;
  entry.set_date(std::string(date));
  entry.set_reason(std::string(reason));
  const absl::optional<int64_t> limit = ReadNumbers(threshold).limit();
  const absl::optional<double> ratio = FindRatio(threshold);
  const absl::optional<int64_t> minimum = ReadNumbers(threshold).minimum;
  if (limit.has_value()) entry.set_new_value(*limit);
  if (ratio.has_value()) entry.set_new_ratio(*ratio);
  if (minimum.has_value()) entry.set_new_minimum(*minimum);
  const std::string terms = ListHeldTerms(threshold);
  if (terms != Severity_Name(BLOCK)) entry.set_terms(terms);
  return entry;
}

std::string DateOfNextEntry(const Threshold& threshold,
                            absl::string_view today) {
  const int count = threshold.history_size();
  if (count == 0) return std::string(today);
  const std::string& last = threshold.history(count - 1).date();
  return IsDay(last) && last > today ? last : std::string(today);
}

std::string DescribeOtherDate(const HistoryEntry& entry,
                              absl::string_view today) {
  if (entry.date() == today) return "";
  return absl::StrCat(", dated ", entry.date(), ", as the entry above it");
}

absl::optional<HistoryEntry> MissingEntry(const Threshold& threshold,
                                          bool is_recorded,
                                          absl::string_view date,
                                          absl::string_view reason) {
  HistoryEntry last;  // the last value of each number
  for (const HistoryEntry& entry : threshold.history()) last.MergeFrom(entry);
  HistoryEntry missing =
      FirstEntry(threshold, DateOfNextEntry(threshold, date), reason);
  const auto is_kept = [is_recorded](bool has_last, auto last_value,
                                     auto new_value) {
    return has_last ? last_value == new_value : !is_recorded;
  };
  if (AwaitsFigure(threshold) ||
      is_kept(last.has_new_value(), last.new_value(), missing.new_value())) {
    missing.clear_new_value();
  } else if (missing.has_new_value() && last.has_new_value()) {
    missing.set_old_value(last.new_value());
  }
  if (is_kept(last.has_new_ratio(), last.new_ratio(), missing.new_ratio())) {
    missing.clear_new_ratio();
  } else if (missing.has_new_ratio() && last.has_new_ratio()) {
    missing.set_old_ratio(last.new_ratio());
  }
  if (is_kept(last.has_new_minimum(), last.new_minimum(),
              missing.new_minimum())) {
    missing.clear_new_minimum();
  } else if (missing.has_new_minimum() && last.has_new_minimum()) {
    missing.set_old_minimum(last.new_minimum());
  }
  bool has_terms = false;
  const std::string recorded = RecordedTerms(threshold, &has_terms);
  const std::string terms = ListHeldTerms(threshold);
  missing.clear_terms();
  if ((is_recorded || has_terms) && terms != recorded) missing.set_terms(terms);
  if (!missing.has_new_value() && !missing.has_new_ratio() &&
      !missing.has_new_minimum() && !missing.has_terms()) {
    return absl::nullopt;
  }
  return missing;
}

bool IsReason(absl::string_view text) {
  while (!text.empty()) {
    const Character character = NextCharacter(text);
    if (ShowsSomething(character.code)) return true;
    text.remove_prefix(character.length);
  }
  return false;
}

}  // namespace footprint
