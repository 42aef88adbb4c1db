#include "footprint/gates/judge/selector.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {

namespace {

// Returns the position after the element at `at`: an escape has two characters.
size_t After(absl::string_view glob, size_t at) {
  return at + (glob[at] == '\\' ? 2 : 1);
}

// Returns whether the element at `at`, which is not a '*', matches the
// character `c`.
bool IsAt(absl::string_view glob, size_t at, char c) {
  return glob[glob[at] == '\\' ? at + 1 : at] == c;
}

}  // namespace

bool IsGlob(absl::string_view glob) {
  for (size_t at = 0; at < glob.size(); at = After(glob, at)) {
    if (glob[at] != '\\') continue;
    if (at + 1 == glob.size()) return false;
    if (glob[at + 1] != '*' && glob[at + 1] != '\\') return false;
  }
  return true;
}

bool IsLiteral(absl::string_view glob) {
  for (size_t at = 0; at < glob.size(); at = After(glob, at)) {
    if (glob[at] == '*') return false;
  }
  return true;
}

std::string NameOfLiteral(absl::string_view glob) {
  std::string name;
  for (size_t at = 0; at < glob.size(); ++at) {
    if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
    name += glob[at];
  }
  return name;
}

std::string EscapeGlob(absl::string_view name) {
  std::string glob;
  for (const char c : name) {
    if (c == '*' || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

// Backtracks to the last '*' only: an earlier one cannot give a match that the
// last one does not.
bool GlobMatches(absl::string_view glob, absl::string_view text) {
  if (!IsGlob(glob)) return false;
  size_t glob_at = 0;
  size_t text_at = 0;
  size_t after_star = absl::string_view::npos;
  size_t star_text_at = 0;
  while (text_at < text.size()) {
    if (glob_at < glob.size() && glob[glob_at] == '*') {
      after_star = ++glob_at;
      star_text_at = text_at;
    } else if (glob_at < glob.size() && IsAt(glob, glob_at, text[text_at])) {
      glob_at = After(glob, glob_at);
      ++text_at;
    } else if (after_star != absl::string_view::npos) {
      glob_at = after_star;
      text_at = ++star_text_at;
    } else {
      return false;
    }
  }
  while (glob_at < glob.size() && glob[glob_at] == '*') ++glob_at;
  return glob_at == glob.size();
}

bool SelectsArguments(const Selector& selector,
                      const BenchmarkMemory& benchmark) {
  for (const Argument& wanted : selector.arguments()) {
    bool is_present = false;
    for (const Argument& argument : benchmark.arguments()) {
      is_present |= argument.name() == wanted.name() &&
                    argument.value() == wanted.value();
    }
    if (!is_present) return false;
  }
  return true;
}

bool SelectsBenchmark(const Selector& selector,
                      const BenchmarkMemory& benchmark) {
  // A limit for each benchmark is not a limit for the process that runs them
  // all.
  if (IsWholeProcessName(benchmark.name()) &&
      !IsWholeProcessName(selector.benchmark())) {
    return false;
  }
  return (selector.benchmark().empty() ||
          GlobMatches(selector.benchmark(), benchmark.name())) &&
         SelectsArguments(selector, benchmark);
}

namespace {

// Returns whether `glob` matches all that `part` matches. It replaces each star
// of `part` by a character that no glob has, and matches that: only a star can
// match this character, and a star matches anything else in its place.
bool Covers(absl::string_view glob, absl::string_view part) {
  constexpr char kInNoGlob = '\0';
  std::string text;
  for (size_t at = 0; at < part.size(); at = After(part, at)) {
    text += part[at] == '*' ? kInNoGlob : part[part[at] == '\\' ? at + 1 : at];
  }
  return GlobMatches(glob, text);
}

bool CoversBenchmarks(const Selector& general, const Selector& selector) {
  return general.benchmark().empty() ||
         Covers(general.benchmark(),
                selector.benchmark().empty() ? "*" : selector.benchmark());
}

bool CoversPhases(const Selector& general, const Selector& selector) {
  if (general.phase().empty() || selector.phase().empty()) {
    return general.phase().empty() && selector.phase().empty();
  }
  return Covers(general.phase(), selector.phase());
}

bool CoversArguments(const Selector& general, const Selector& selector) {
  BenchmarkMemory benchmark;
  *benchmark.mutable_arguments() = selector.arguments();
  return SelectsArguments(general, benchmark);
}

bool Covers(const Selector& general, const Selector& selector) {
  return Covers(general.label(), selector.label()) &&
         CoversBenchmarks(general, selector) &&
         CoversPhases(general, selector) && CoversArguments(general, selector);
}

}  // namespace

bool IsMoreParticular(const Selector& selector, const Selector& general) {
  return Covers(general, selector) && !Covers(selector, general);
}

std::string DescribeSelector(const Selector& selector) {
  std::string arguments;
  for (const Argument& argument : selector.arguments()) {
    absl::StrAppend(&arguments, arguments.empty() ? " (" : ", ",
                    argument.name(), "=", argument.value());
  }
  if (!arguments.empty()) arguments += ")";
  return DescribeMeasurement(
      selector.label(),
      absl::StrCat(selector.benchmark().empty() ? "*" : selector.benchmark(),
                   arguments),
      selector.phase());
}

std::string DescribeMeasurement(absl::string_view label,
                                absl::string_view benchmark,
                                absl::string_view phase) {
  return absl::StrCat(label, " ", benchmark, phase.empty() ? "" : ", phase \"",
                      phase, phase.empty() ? "" : "\"");
}

}  // namespace footprint
