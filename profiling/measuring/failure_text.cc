#include "footprint/profiling/measuring/failure_text.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

constexpr int kSmallestUnmistakableProcessId = 100;

bool IsWordCharacter(char character) {
  return absl::ascii_isalnum(character) || character == '_';
}

// Returns how many characters at the start of `text` satisfy `is_part`.
template <typename Predicate>
size_t CountLeading(absl::string_view text, Predicate is_part) {
  return static_cast<size_t>(
      std::find_if_not(text.begin(), text.end(), is_part) - text.begin());
}

// Returns whether `text` begins like `shape`, in which '0' stands for any digit
// and every other character for itself.
bool HasShape(absl::string_view text, absl::string_view shape) {
  if (text.size() < shape.size()) return false;
  return std::equal(
      shape.begin(), shape.end(), text.begin(), [](char wanted, char found) {
        return wanted == '0' ? absl::ascii_isdigit(found) : wanted == found;
      });
}

// Returns the length of a date with time (ISO 8601) at the start of `text`, or
// 0.
size_t TimeLength(absl::string_view text) {
  if (!HasShape(text, "0000-00-00T00:00:00") &&
      !HasShape(text, "0000-00-00 00:00:00")) {
    return 0;
  }
  size_t length = 19;
  if (HasShape(text.substr(length), ".0")) {
    length += 1 + CountLeading(text.substr(length + 1), absl::ascii_isdigit);
  }
  for (const char* zone : {"Z", "+00:00", "-00:00", "+0000", "-0000"}) {
    if (HasShape(text.substr(length), zone)) {
      return length + absl::string_view(zone).size();
    }
  }
  return length;
}

bool IsAddress(absl::string_view word) {
  return absl::StartsWith(word, "0x") && word.size() >= 6 &&
         word.size() <= 18 &&
         CountLeading(word.substr(2), absl::ascii_isxdigit) == word.size() - 2;
}

// Returns whether the number at `begin` means the process: a small number may
// be any count.
bool MeansProcess(absl::string_view text, size_t begin, size_t length,
                  int process_id) {
  if (process_id >= kSmallestUnmistakableProcessId) return true;
  const absl::string_view before = text.substr(0, begin);
  if (absl::EndsWith(before, "==")) {
    return absl::StartsWith(text.substr(begin + length), "==");
  }
  const absl::string_view name =
      before.substr(0, before.find_last_not_of(" =:") + 1);
  return name.size() < before.size() &&
         (absl::EndsWithIgnoreCase(name, "pid") ||
          absl::EndsWithIgnoreCase(name, "process"));
}

std::string ReplaceWords(absl::string_view text, int process_id) {
  const std::string number = absl::StrCat(process_id);
  std::string replaced;
  for (size_t at = 0; at < text.size();) {
    const absl::string_view rest = text.substr(at);
    if (!IsWordCharacter(text[at])) {
      replaced += text[at++];
      continue;
    }
    size_t length = TimeLength(rest);
    if (length > 0) {
      absl::StrAppend(&replaced, "TIME");
      at += length;
      continue;
    }
    length = CountLeading(rest, IsWordCharacter);
    const absl::string_view word = rest.substr(0, length);
    if (IsAddress(word)) {
      absl::StrAppend(&replaced, "0xADDRESS");
    } else if (word == number && MeansProcess(text, at, length, process_id)) {
      absl::StrAppend(&replaced, "PID");
    } else {
      absl::StrAppend(&replaced, word);
    }
    at += length;
  }
  return replaced;
}

// Removes the machine's load average, which Google Benchmark prints first.
void RemoveLoadAverage(std::string* text) {
  const size_t begin = text->find("Load Average: ");
  if (begin == std::string::npos) return;
  const size_t newline = text->find('\n', begin);
  text->erase(begin, newline == std::string::npos ? std::string::npos
                                                  : newline + 1 - begin);
}

void KeepEnd(std::string* text) {
  if (text->size() <= kFailureTextBytes) return;
  text->erase(0, text->size() - kFailureTextBytes);
  const size_t newline = text->find('\n');
  if (newline != std::string::npos && newline + 1 < text->size()) {
    text->erase(0, newline + 1);
  }
}

}  // namespace

std::string StableFailureText(std::string text,
                              const FailureTextOptions& options) {
  for (char& byte : text) {
    const bool is_plain =
        (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\t';
    if (!is_plain) byte = '?';
  }
  for (const std::string& folder : options.folders) {
    if (folder.size() < 2) continue;
    absl::StrReplaceAll({{folder + "/", ""}}, &text);
    absl::StrReplaceAll({{folder, "."}}, &text);
  }
  RemoveLoadAverage(&text);
  text = ReplaceWords(text, options.process_id);
  KeepEnd(&text);
  return text;
}

}  // namespace footprint
