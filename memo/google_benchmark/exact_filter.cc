#include "footprint/memo/google_benchmark/exact_filter.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/string_view.h"
#include "footprint/base/text/report_escape.h"

namespace footprint::memo_internal {
namespace {

// The most states that an expression may have, of the hundred thousand that
// libstdc++ allows. A character is a state, and an alternative is some more.
constexpr size_t kMostStates = 40'000;
constexpr size_t kStatesOfAlternative = 4;
// The most nested groups, since regular expressions are matched by recursion.
constexpr int kMostDepth = 50;

using Names = std::vector<std::string>;
using Iterator = Names::const_iterator;

// Returns the length of the common beginning of sorted names. What the first
// and the last share, all of them share.
size_t CommonLength(Iterator begin, Iterator end) {
  const std::string& first = *begin;
  const std::string& last = *(end - 1);
  const size_t shorter = std::min(first.size(), last.size());
  return static_cast<size_t>(
      std::mismatch(first.begin(),
                    first.begin() + static_cast<ptrdiff_t>(shorter),
                    last.begin())
          .first -
      first.begin());
}

// Returns the end of the names that continue with the same character; at the
// depth limit, of one name.
Iterator EndOfBranch(Iterator begin, Iterator end, size_t offset, int depth) {
  if (depth >= kMostDepth || begin->size() <= offset) return begin + 1;
  return std::find_if(begin, end, [&](const std::string& name) {
    return name[offset] != (*begin)[offset];
  });
}

// Appends the names from `offset` on. The names must be sorted without repeats.
void AppendRests(Iterator begin, Iterator end, size_t offset, int depth,
                 std::string* filter) {
  if (end - begin == 1) {
    *filter += EscapeForRegularExpression(begin->substr(offset));
    return;
  }
  const size_t common = CommonLength(begin, end);
  *filter += EscapeForRegularExpression(begin->substr(offset, common - offset));
  *filter += '(';
  for (Iterator branch = begin; branch != end;) {
    const Iterator next = EndOfBranch(branch, end, common, depth);
    if (branch != begin) *filter += '|';
    AppendRests(branch, next, common, depth + 1, filter);
    branch = next;
  }
  *filter += ')';
}

absl::string_view FindFamily(absl::string_view name) {
  return name.substr(0, name.find('/'));
}

// Returns where the family of the last name begins; 0 if it is the only family.
size_t BeginOfLastFamily(const Names& names) {
  size_t begin = names.size() - 1;
  while (begin > 0 &&
         FindFamily(names[begin - 1]) == FindFamily(names.back())) {
    --begin;
  }
  return begin;
}

size_t CountStates(const std::string& name) {
  return name.size() + kStatesOfAlternative;
}

std::vector<Names> DivideUnique(const Names& names) {
  std::vector<Names> parts(1);
  size_t states = 0;
  for (const std::string& name : names) {
    if (states + CountStates(name) > kMostStates && !parts.back().empty()) {
      // The part is full. If its last family continues, the family moves to the
      // next part, unless it is the only one.
      Names& full = parts.back();
      const bool is_within_family = FindFamily(full.back()) == FindFamily(name);
      const auto cut =
          full.begin() + static_cast<ptrdiff_t>(is_within_family
                                                    ? BeginOfLastFamily(full)
                                                    : full.size());
      Names rest;
      if (cut != full.begin()) {
        rest.assign(cut, full.end());
        full.erase(cut, full.end());
      }
      states = 0;
      for (const std::string& moved : rest) states += CountStates(moved);
      parts.push_back(std::move(rest));
    }
    parts.back().push_back(name);
    states += CountStates(name);
  }
  return parts;
}

}  // namespace

std::string ExactFilter(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string filter = "^";
  AppendRests(names.begin(), names.end(), 0, 0, &filter);
  return filter + "$";
}

std::vector<std::vector<std::string>> DivideForFilters(
    const std::vector<std::string>& names) {
  std::map<absl::string_view, size_t> counts;
  Names unique_names;
  for (const std::string& name : names) {
    if (++counts[name] == 1) unique_names.push_back(name);
  }
  std::vector<Names> parts = DivideUnique(unique_names);
  if (unique_names.size() == names.size()) return parts;
  for (Names& part : parts) {
    Names repeated;
    for (const std::string& name : part) {
      repeated.insert(repeated.end(), counts[name], name);
    }
    part = std::move(repeated);
  }
  return parts;
}

}  // namespace footprint::memo_internal
