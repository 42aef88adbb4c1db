#include "footprint/gates/explaining/audit_text.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/wrap_text.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

constexpr size_t kIndent = 4;
constexpr char kCommandBegin[] = ": bazel run ";

void AppendFinding(const AuditFinding& finding, const ReportOptions& options,
                   std::string* text) {
  const std::string word = FindingWord(finding.kind);
  const size_t command = finding.message.rfind(kCommandBegin);
  std::vector<std::string> lines = absl::StrSplit(
      finding.message.substr(
          0, command == std::string::npos ? command : command + 1),
      '\n');
  lines[0] = absl::StrCat(word, " ", EscapeForTerminal(finding.location), ": ",
                          EscapeForTerminal(lines[0]));
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line =
        i == 0 ? WrapText(lines[0], options.width, kIndent)
               : WrapText(absl::StrCat("    ", EscapeForTerminal(lines[i])),
                          options.width, kIndent);
    const bool is_coloured = i == 0 && options.has_colour;
    absl::StrAppend(text, is_coloured ? "\x1b[33m" : "",
                    line.substr(0, is_coloured ? word.size() : 0),
                    is_coloured ? "\x1b[0m" : "",
                    line.substr(is_coloured ? word.size() : 0), "\n");
  }
  if (command == std::string::npos) return;
  absl::StrAppend(
      text, std::string(kIndent, ' '),
      WrapCommand(EscapeForTerminal(finding.message.substr(command + 2)),
                  options.width, 2 * kIndent, kIndent),
      "\n");
}

}  // namespace

std::string WriteAuditText(const std::vector<AuditFinding>& findings,
                           const ReportOptions& options) {
  if (findings.empty()) return "nothing found\n";
  std::string text;
  std::vector<std::pair<std::string, int>> counts;
  for (const AuditFinding& finding : findings) {
    AppendFinding(finding, options, &text);
    text += "\n";
    const std::string word = FindingWord(finding.kind);
    auto count =
        std::find_if(counts.begin(), counts.end(),
                     [&word](const auto& each) { return each.first == word; });
    if (count == counts.end()) count = counts.insert(count, {word, 0});
    ++count->second;
  }
  std::string summary = "found";
  for (const auto& count : counts) {
    absl::StrAppend(&summary, summary == "found" ? " " : ", ", count.second,
                    " ", count.first);
  }
  absl::StrAppend(&text, WrapText(summary, options.width, kIndent), "\n");
  return text;
}

std::string WriteAuditJson(const std::vector<AuditFinding>& findings) {
  using Json = nlohmann::ordered_json;
  constexpr int kJsonIndent = 2;
  Json array = Json::array();
  for (const AuditFinding& finding : findings) {
    array.push_back({{"kind", FindingWord(finding.kind)},
                     {"location", finding.location},
                     {"message", finding.message}});
  }
  const Json json = {{"findings", array}};
  return json.dump(kJsonIndent, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace footprint
