#include "footprint/gates/update_command.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

constexpr absl::string_view kPlainCharacters = "_/:.,=+@%-";

}  // namespace

std::string ShellQuote(absl::string_view argument) {
  bool is_plain = !argument.empty();
  std::string quoted = "'";
  for (char c : argument) {
    is_plain &= absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                kPlainCharacters.find(c) != absl::string_view::npos;
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return is_plain ? std::string(argument) : quoted + "'";
}

std::string UpdateCommand::ToAccept(absl::string_view label,
                                    absl::string_view benchmark,
                                    bool is_increase) const {
  return absl::StrCat("bazel run ", ShellQuote(target), " --",
                      is_increase ? " --allow_increase --reason=\"...\"" : "",
                      " --only=", ShellQuote(label),
                      " --benchmark=", ShellQuote(benchmark));
}

std::string UpdateCommand::ToAdd(absl::string_view label,
                                 absl::string_view benchmark) const {
  return absl::StrCat("bazel run ", ShellQuote(target),
                      " -- --add --only=", ShellQuote(label),
                      " --benchmark=", ShellQuote(benchmark));
}

std::string UpdateCommand::ToBless(absl::string_view label,
                                   absl::string_view path) const {
  return absl::StrCat("bazel run ", ShellQuote(target),
                      " -- --environment=", ShellQuote(path),
                      " --only=", ShellQuote(label));
}

}  // namespace footprint
