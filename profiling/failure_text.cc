#include "footprint/profiling/failure_text.h"

#include <regex>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace footprint {
namespace {

constexpr int kSmallestUnmistakableProcessId = 100;

// Every pattern matches a few dozen characters at most, which bounds what
// std::regex needs of the stack.
std::string ReplacePatterns(const std::string& text, int process_id) {
  static const auto* const kAddress =
      new std::regex("\\b0x[0-9a-fA-F]{4,16}\\b");
  static const auto* const kTime = new std::regex(
      "\\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}"
      "([.][0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2})?");
  static const auto* const kLoad =
      new std::regex("Load Average: [0-9., ]{1,40}\n");
  std::string replaced = std::regex_replace(text, *kAddress, "0xADDRESS");
  replaced = std::regex_replace(replaced, *kTime, "TIME");
  replaced = std::regex_replace(replaced, *kLoad, "");
  const std::string number = absl::StrCat(process_id);
  if (process_id >= kSmallestUnmistakableProcessId) {
    return std::regex_replace(replaced, std::regex("\\b" + number + "\\b"),
                              "PID");
  }
  replaced = std::regex_replace(
      replaced,
      std::regex("\\b([Pp]id|PID|[Pp]rocess)([ =:]{1,2})" + number + "\\b"),
      "$1$2PID");
  replaced =
      std::regex_replace(replaced, std::regex("==" + number + "=="), "==PID==");
  return replaced;
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
  text = ReplacePatterns(text, options.process_id);
  KeepEnd(&text);
  return text;
}

}  // namespace footprint
