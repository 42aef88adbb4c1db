#include "footprint/gates/judge/update_command.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/selector.h"

namespace footprint {
namespace {

constexpr absl::string_view kPlainCharacters = "_/:.,=+@%-";

// Writes every byte that is not printable ASCII as its octal number.
std::string QuoteAnsiC(absl::string_view argument) {
  std::string quoted = "$'";
  for (char c : argument) {
    if (c == '\'' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      quoted += c;
    } else {
      // Three digits, so that a digit that follows is not read as a part of it.
      absl::StrAppendFormat(&quoted, "\\%03o", static_cast<unsigned char>(c));
    }
  }
  return quoted + "'";
}

}  // namespace

std::string ShellQuote(absl::string_view argument) {
  if (EscapeForTerminal(argument) != argument) return QuoteAnsiC(argument);
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
                      benchmark.empty() ? "" : " --benchmark=",
                      benchmark.empty() ? "" : ShellQuote(benchmark));
}

std::string UpdateCommand::ToAdd(absl::string_view label,
                                 absl::string_view benchmark) const {
  return absl::StrCat("bazel run ", ShellQuote(target),
                      " -- --add --only=", ShellQuote(EscapeGlob(label)),
                      " --benchmark=", ShellQuote(EscapeGlob(benchmark)));
}

std::string UpdateCommand::ToBless(absl::string_view label,
                                   absl::string_view path) const {
  return absl::StrCat("bazel run ", ShellQuote(target),
                      " -- --environment=", ShellQuote(path),
                      " --only=", ShellQuote(EscapeGlob(label)));
}

}  // namespace footprint
