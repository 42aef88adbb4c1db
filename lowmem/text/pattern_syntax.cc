#include "footprint/lowmem/text/pattern_syntax.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

// No tokenizer nests sets deeper than this.
constexpr int kDeepestSet = 16;

// Returns the characters of a class, as they stand within brackets, or an empty
// text for a letter that is not a class. In Oniguruma six superscript digits
// and fractions count as letters of words.
absl::string_view ClassContent(char letter) {
  switch (absl::ascii_tolower(static_cast<unsigned char>(letter))) {
    case 's':  // Unicode's White_Space; PCRE2 also counts U+180E
      return R"(\t-\r\x{85}\p{Z})";
    case 'w':
      return R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\xb2\xb3\xb9\xbc-\xbe)";
    case 'h':
      return "0-9A-Fa-f";
    case 'd':
      return R"(\p{Nd})";
    default:
      return "";
  }
}

// Returns the same for a named class, as in [[:alpha:]].
absl::string_view NamedContent(absl::string_view name) {
  struct Class {
    absl::string_view name;
    absl::string_view content;
  };
  static constexpr Class kClasses[] = {
      {"alpha", R"(\p{Alphabetic})"},
      {"alnum", R"(\p{Alphabetic}\p{Nd})"},
      {"blank", R"(\t\p{Zs})"},
      {"cntrl", R"(\p{Cc})"},
      {"digit", R"(\p{Nd})"},
      {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
      {"lower", R"(\p{Lowercase})"},
      {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
      {"punct", R"(\p{P}\p{S})"},
      {"space", R"(\t-\r\x{85}\p{Z})"},
      {"upper", R"(\p{Uppercase})"},
      {"word", R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"},
      {"xdigit", "0-9A-Fa-f"}};
  for (const Class& known : kClasses) {
    if (known.name == name) return known.content;
  }
  return "";
}

// Returns the content of the class that an escape in a set names, or an empty
// text if it names no class. In a set, Oniguruma does not count the six
// superscript digits and fractions as letters of words.
absl::string_view ContentInSet(absl::string_view escape) {
  if (escape.size() != 2) return "";
  return escape[1] == 'w' || escape[1] == 'W' ? NamedContent("word")
                                              : ClassContent(escape[1]);
}

bool IsNegatedClass(char letter) {
  return absl::ascii_isupper(static_cast<unsigned char>(letter));
}

// A set during translation: the content of simple brackets, and other
// expressions that match one character each.
struct Set {
  std::string content;
  std::vector<std::string> others;

  std::string Expression() const {
    if (others.empty()) return absl::StrCat("[", content, "]");
    std::vector<std::string> all = others;
    if (!content.empty()) all.push_back(absl::StrCat("[", content, "]"));
    return absl::StrCat("(?:", absl::StrJoin(all, "|"), ")");
  }
};

class Translation {
 public:
  explicit Translation(absl::string_view pattern) : pattern_(pattern) {}

  absl::StatusOr<std::string> Run() {
    while (at_ < pattern_.size() && status_.ok()) Step();
    if (!status_.ok()) return status_;
    return text_;
  }

 private:
  bool IsNext(absl::string_view text) const {
    return absl::StartsWith(pattern_.substr(at_), text);
  }

  void AddAtom(absl::string_view text) {
    atom_ = text_.size();
    absl::StrAppend(&text_, text);
  }

  void Step() {
    switch (pattern_[at_]) {
      case '\\':
        return StepEscape();
      case '[':
        return AddAtom(TakeSet(0));
      case '(':
        groups_.push_back(text_.size());
        return StepGroup();
      case ')':
        if (!groups_.empty()) {
          atom_ = groups_.back();
          groups_.pop_back();
        }
        break;
      case '{':
        if (StepInterval()) return;
        break;
      case '?':
      case '*':
      case '+':
      case '|':
        break;
      default:
        atom_ = text_.size();
        // A character of several bytes is one atom.
        while (at_ + 1 < pattern_.size() &&
               (static_cast<unsigned char>(pattern_[at_ + 1]) & 0xc0) == 0x80) {
          text_ += pattern_[at_++];
        }
        break;
    }
    text_ += pattern_[at_++];
  }

  // Takes "\p{L}", "\x{41}" and "\u0041" as a whole, and in any other case
  // the backslash and the letter after it.
  absl::string_view TakeEscape() {
    const size_t begin = at_;
    at_ = std::min(at_ + 2, pattern_.size());
    const char letter = pattern_[at_ - 1];
    if ((letter == 'p' || letter == 'P' || letter == 'x') && IsNext("{")) {
      const size_t end = pattern_.find('}', at_);
      at_ = end == absl::string_view::npos ? pattern_.size() : end + 1;
    } else if (letter == 'u') {
      at_ = std::min(at_ + 4, pattern_.size());
    }
    return pattern_.substr(begin, at_ - begin);
  }

  // Returns PCRE2's form of an escape that stands for one character, or for a
  // class that both syntaxes have.
  static std::string Shared(absl::string_view escape) {
    if (absl::EqualsIgnoreCase(escape, "\\p{Alpha}")) {
      return "\\p{Alphabetic}";
    }
    if (escape.size() == 6 && escape[1] == 'u') {
      return absl::StrCat("\\x{", escape.substr(2), "}");
    }
    return escape == "\\v" ? "\\x0b" : std::string(escape);
  }

  void StepEscape() {
    const absl::string_view escape = TakeEscape();
    const char letter = escape.back();
    const absl::string_view content =
        escape.size() == 2 ? ClassContent(letter) : "";
    if (!content.empty()) {
      return AddAtom(
          absl::StrCat(IsNegatedClass(letter) ? "[^" : "[", content, "]"));
    }
    const std::string word = absl::StrCat("[", ClassContent('w'), "]");
    if (escape == "\\b") {
      return AddAtom(
          absl::StrReplaceAll("(?:(?<=W)(?!W)|(?<!W)(?=W))", {{"W", word}}));
    }
    if (escape == "\\B") {
      return AddAtom(
          absl::StrReplaceAll("(?:(?<=W)(?=W)|(?<!W)(?!W))", {{"W", word}}));
    }
    AddAtom(Shared(escape));
  }

  // Translates "(?m:", which lets the dot match line ends; PCRE2 calls that
  // "s".
  void StepGroup() {
    const size_t begin = at_++;
    if (IsNext("?")) {
      size_t end = at_ + 1;
      while (end < pattern_.size() &&
             absl::StrContains("imx-", pattern_.substr(end, 1))) {
        ++end;
      }
      const bool has_options = end > at_ + 1 && end < pattern_.size() &&
                               (pattern_[end] == ':' || pattern_[end] == ')');
      if (has_options) at_ = end;
    }
    const absl::string_view group = pattern_.substr(begin, at_ - begin);
    text_ += absl::StrReplaceAll(group, {{"m", "s"}});
  }

  // Translates "{,3}" to "{0,3}". In Oniguruma, a plus after an interval
  // repeats the whole interval.
  bool StepInterval() {
    size_t end = at_ + 1;
    while (end < pattern_.size() &&
           (absl::ascii_isdigit(static_cast<unsigned char>(pattern_[end])) ||
            pattern_[end] == ',')) {
      ++end;
    }
    const absl::string_view content = pattern_.substr(at_ + 1, end - at_ - 1);
    const bool is_interval = end < pattern_.size() && pattern_[end] == '}' &&
                             !content.empty() && content != ",";
    if (!is_interval) return false;
    absl::StrAppend(&text_, "{", content[0] == ',' ? "0" : "", content, "}");
    at_ = end + 1;
    if (IsNext("+")) {
      text_.insert(atom_, "(?:");
      text_ += ")";
    }
    return true;
  }

  // Takes "[...]" and returns an expression of one character.
  std::string TakeSet(int depth) {
    const size_t begin = at_++;
    const bool is_negated = IsNext("^");
    if (is_negated) ++at_;
    std::vector<Set> parts(1);  // the operands of "&&"
    for (bool is_first = true; at_ < pattern_.size(); is_first = false) {
      if (IsNext("]") && !is_first) {
        ++at_;
        return Joined(parts, is_negated);
      }
      if (IsNext("&&")) {
        at_ += 2;
        parts.emplace_back();
      } else {
        TakeItem(depth, &parts.back());
      }
      if (!status_.ok()) return "";
    }
    status_ = absl::InvalidArgumentError(absl::StrCat(
        "the pattern \"", pattern_, "\" cannot be used: the set at byte ",
        begin, " does not end"));
    return "";
  }

  static std::string Joined(const std::vector<Set>& parts, bool is_negated) {
    if (parts.size() == 1 && parts[0].others.empty() && is_negated) {
      return absl::StrCat("[^", parts[0].content, "]");
    }
    std::string all;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      absl::StrAppend(&all, "(?=", parts[i].Expression(), ")");
    }
    absl::StrAppend(&all, parts.back().Expression());
    if (is_negated) return absl::StrCat("(?:(?!", all, ")(?s:.))");
    return parts.size() == 1 ? all : absl::StrCat("(?:", all, ")");
  }

  // Takes "[:alpha:]" or "[:^alpha:]", whose last colon is at `end`.
  void TakeNamed(size_t end, Set* set) {
    absl::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    const bool is_negated = absl::ConsumePrefix(&name, "^");
    const absl::string_view content = NamedContent(name);
    if (content.empty()) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("the pattern \"", pattern_, "\" cannot be used: byte ",
                       at_, ": no class has the name \"", name, "\""));
      return;
    }
    at_ = end + 2;
    follows_class_ = true;
    if (is_negated) {
      set->others.push_back(absl::StrCat("[^", content, "]"));
    } else {
      absl::StrAppend(&set->content, content);
    }
  }

  void TakeItem(int depth, Set* set) {
    if (IsNext("[:")) {
      const size_t end = pattern_.find(":]", at_ + 2);
      if (end != absl::string_view::npos) return TakeNamed(end, set);
    }
    if (IsNext("[")) {
      if (depth == kDeepestSet) {
        status_ = absl::InvalidArgumentError(
            "a pattern has too many sets within sets");
        return;
      }
      set->others.push_back(TakeSet(depth + 1));
      follows_class_ = true;
      return;
    }
    if (!IsNext("\\")) {
      // A hyphen after a class is a plain hyphen and makes no range.
      const bool is_bare = IsNext("-") && follows_class_;
      follows_class_ = false;
      if (is_bare) set->content += '\\';
      set->content += pattern_[at_++];
      return;
    }
    const absl::string_view escape = TakeEscape();
    const absl::string_view content = ContentInSet(escape);
    follows_class_ = !content.empty();
    if (content.empty()) {
      set->content += Shared(escape);
    } else if (IsNegatedClass(escape[1])) {
      set->others.push_back(absl::StrCat("[^", content, "]"));
    } else {
      absl::StrAppend(&set->content, content);
    }
  }

  const absl::string_view pattern_;
  size_t at_ = 0;
  std::string text_;
  size_t atom_ = 0;  // the start of the expression that a quantifier repeats
  std::vector<size_t> groups_;
  bool follows_class_ = false;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::string> ToPcre2Pattern(absl::string_view pattern) {
  return Translation(pattern).Run();
}

}  // namespace footprint
