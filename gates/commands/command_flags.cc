#include "footprint/gates/commands/command_flags.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/near_names.h"

namespace footprint {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::StatusOr<CommandFlags> CommandFlags::Parse(
    const std::vector<std::string>& arguments,
    const std::vector<std::string>& valued,
    const std::vector<std::string>& plain, size_t most_words) {
  CommandFlags flags;
  for (const std::string& argument : arguments) {
    if (argument.compare(0, 2, "--") != 0) {
      if (flags.words_.size() == most_words) {
        return absl::InvalidArgumentError(absl::StrCat(
            "\"", argument,
            most_words == 0 ? "\" is not a flag; see --help"
                            : "\" is one word too many; see --help"));
      }
      flags.words_.push_back(argument);
      continue;
    }
    const size_t equals = argument.find('=');
    const bool has_value = equals != std::string::npos;
    const std::string name =
        argument.substr(2, has_value ? equals - 2 : equals);
    if (!Contains(valued, name) && !Contains(plain, name)) {
      std::vector<std::string> known = valued;
      known.insert(known.end(), plain.begin(), plain.end());
      return absl::InvalidArgumentError(
          absl::StrCat("there is no flag --", name, DidYouMean(name, known),
                       "; see --help"));
    }
    if (has_value != Contains(valued, name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", name,
          has_value ? " takes no value"
                    : " needs a "
                      "value: --",
          has_value ? "" : name, has_value ? "" : "=...", "; see --help"));
    }
    flags.values_[name].push_back(has_value ? argument.substr(equals + 1) : "");
  }
  return flags;
}

std::string CommandFlags::Value(const std::string& name,
                                const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second.back();
}

std::vector<std::string> CommandFlags::Values(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

}  // namespace footprint
