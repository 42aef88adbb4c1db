#include "footprint/gates/engine/engine_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

constexpr char kFlag[] = "--engine: ";
// The characters on which a shell acts, unless they are quoted.
constexpr absl::string_view kShellCharacters = "|&;<>()$`*?[]#~";
constexpr absl::string_view kShellCharactersInDoubleQuotes = "$`";

absl::Status Mistake(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(kFlag, text));
}

// Splits a text into words.
class WordSplitter {
 public:
  explicit WordSplitter(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<std::string>> Split() {
    while (position_ < text_.size()) {
      const absl::Status status = Take(text_[position_++]);
      if (!status.ok()) return status;
    }
    EndWord();
    return std::move(words_);
  }

 private:
  absl::Status Take(char next) {
    if (absl::ascii_isspace(static_cast<unsigned char>(next))) {
      EndWord();
      return absl::OkStatus();
    }
    is_word_ = true;
    if (next == '\'' || next == '"') return TakeQuoted(next);
    if (next == '\\') return TakeEscaped("");
    if (absl::StrContains(kShellCharacters, next)) return Meant(next);
    word_.push_back(next);
    return absl::OkStatus();
  }

  absl::Status TakeQuoted(char quote) {
    while (position_ < text_.size()) {
      const char next = text_[position_++];
      if (next == quote) return absl::OkStatus();
      if (quote == '"' && next == '\\') {
        const absl::Status status = TakeEscaped("\"\\$`");
        if (!status.ok()) return status;
        continue;
      }
      if (quote == '"' &&
          absl::StrContains(kShellCharactersInDoubleQuotes, next)) {
        return Meant(next);
      }
      word_.push_back(next);
    }
    return Mistake(absl::StrCat("a ", std::string(1, quote),
                                " is not closed; close it, or put a backslash "
                                "before it"));
  }

  // Takes the character after a backslash, which stays if it is before any
  // other than `escapable`. All are escapable if that is empty.
  absl::Status TakeEscaped(absl::string_view escapable) {
    if (position_ == text_.size()) {
      return Mistake("nothing follows the last backslash; remove it");
    }
    const char next = text_[position_++];
    if (!escapable.empty() && !absl::StrContains(escapable, next)) {
      word_.push_back('\\');
    }
    word_.push_back(next);
    return absl::OkStatus();
  }

  static absl::Status Meant(char character) {
    return Mistake(absl::StrCat(
        "no shell reads this command, so '",
        EscapeForTerminal(std::string(1, character)),
        "' would not do what it does in a shell; put it between single quotes "
        "if the program wants it, or name a script"));
  }

  void EndWord() {
    if (is_word_) words_.push_back(std::exchange(word_, ""));
    is_word_ = false;
  }

  const absl::string_view text_;
  size_t position_ = 0;
  std::vector<std::string> words_;
  std::string word_;
  bool is_word_ = false;
};

bool IsOfName(char each) { return absl::ascii_islower(each) || each == '_'; }

// Calls `replace` with the name of each placeholder of the word, and returns
// the word with the results. Braces around anything but a name stay.
std::string ReplacePlaceholders(
    absl::string_view word,
    const std::function<std::string(const std::string& name)>& replace) {
  std::string replaced;
  size_t position = 0;
  while (position < word.size()) {
    const char next = word[position++];
    size_t end = position;
    while (next == '{' && end < word.size() && IsOfName(word[end])) ++end;
    if (end == position || end == word.size() || word[end] != '}') {
      replaced.push_back(next);
      continue;
    }
    absl::StrAppend(
        &replaced, replace(std::string(word.substr(position, end - position))));
    position = end + 1;
  }
  return replaced;
}

std::vector<std::string> FindPlaceholders(
    const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    ReplacePlaceholders(word, [&](const std::string& name) {
      names.push_back(name);
      return "";
    });
  }
  return names;
}

bool IsIn(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckPlaceholders(const std::vector<std::string>& words) {
  const std::vector<std::string> used = FindPlaceholders(words);
  const std::vector<std::string>& known = EngineCommand::Placeholders();
  for (const std::string& name : used) {
    if (IsIn(known, name)) continue;
    return Mistake(absl::StrCat("there is no {", name, "}, only {",
                                absl::StrJoin(known, "}, {"), "}",
                                DidYouMean(name, known)));
  }
  for (const char* name : {"bundle", "order", "result"}) {
    if (IsIn(used, name)) continue;
    return Mistake(absl::StrCat(
        "no word has {", name,
        "}; end the command by `try --bundle={bundle} --order={order} "
        "--result={result} --key=FILE`, or by a script with these paths"));
  }
  return absl::OkStatus();
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) &&
         access(path.c_str(), X_OK) == 0;
}

// Returns the program's absolute path.
absl::StatusOr<std::string> FindProgram(const std::string& name,
                                        const std::string& folder) {
  if (absl::StrContains(name, '/')) {
    std::error_code error;
    const std::string path =
        std::filesystem::absolute(std::filesystem::path(folder) / name, error)
            .string();
    if (!error && IsProgram(path)) return path;
    return Mistake(absl::StrCat(EscapeForTerminal(name),
                                " is not a program that can be run"));
  }
  const char* const path = std::getenv("PATH");
  for (absl::string_view each :
       absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::string found = absl::StrCat(each, "/", name);
    if (absl::StartsWith(each, "/") && IsProgram(found)) return found;
  }
  return Mistake(absl::StrCat("there is no program '", EscapeForTerminal(name),
                              "' in PATH; install it, or name its path"));
}

}  // namespace

const std::vector<std::string>& EngineCommand::Placeholders() {
  static const auto* const names = new std::vector<std::string>(
      {"bundle", "limit", "order", "result", "seconds", "trial"});
  return *names;
}

absl::StatusOr<EngineCommand> EngineCommand::Parse(absl::string_view text,
                                                   const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> words = WordSplitter(text).Split();
  if (!words.ok()) return words.status();
  if (words->empty()) {
    return Mistake("the command is empty; name a program, such as srun");
  }
  const absl::Status status = CheckPlaceholders(*words);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> program = FindProgram(words->front(), folder);
  if (!program.ok()) return program.status();
  words->front() = *std::move(program);
  EngineCommand command;
  command.words_ = *std::move(words);
  return command;
}

bool EngineCommand::Uses(absl::string_view placeholder) const {
  return IsIn(FindPlaceholders(words_), placeholder);
}

std::vector<std::string> EngineCommand::Fill(
    const std::map<std::string, std::string>& values) const {
  std::vector<std::string> filled = {words_.front()};
  for (size_t i = 1; i < words_.size(); ++i) {
    filled.push_back(ReplacePlaceholders(
        words_[i], [&](const std::string& name) { return values.at(name); }));
  }
  return filled;
}

}  // namespace footprint
