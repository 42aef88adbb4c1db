#include "footprint/base/text/take_flags.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace footprint {
namespace {

bool EndsFlags(absl::string_view word) { return word == "--"; }

// Returns whether `word` is the flag, with or without its value.
bool IsFlag(absl::string_view word, absl::string_view name) {
  return absl::StartsWith(word, name) &&
         (word.size() == name.size() || word[name.size()] == '=');
}

}  // namespace

absl::Status TakeFlags(int* argc, char** argv,
                       std::initializer_list<TakenFlag> flags) {
  absl::Status status;
  int next = std::min(*argc, 1);
  int kept = next;
  while (next < *argc && !EndsFlags(argv[next])) {
    const absl::string_view word = argv[next];
    const auto flag =
        std::find_if(flags.begin(), flags.end(),
                     [&](const TakenFlag& f) { return IsFlag(word, f.name); });
    if (flag == flags.end()) {
      argv[kept++] = argv[next++];
      continue;
    }
    ++next;
    absl::string_view value;
    if (word.size() > flag->name.size()) {
      value = word.substr(flag->name.size() + 1);
    } else if (next < *argc && !EndsFlags(argv[next])) {
      value = argv[next++];
    }
    status.Update(flag->set(value));
  }
  while (next < *argc) argv[kept++] = argv[next++];
  *argc = kept;
  argv[kept] = nullptr;
  return status;
}

}  // namespace footprint
