#include "footprint/profiling/reports/report_words.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {

std::string Seconds(int64_t ns) {
  return absl::StrFormat("%.3f s", static_cast<double>(ns) * 1e-9);
}

std::string Share(int64_t part, int64_t whole) {
  if (whole == 0) return "-";
  return absl::StrFormat("%.1f %%", 100.0 * static_cast<double>(part) /
                                        static_cast<double>(whole));
}

std::string Shortened(absl::string_view text, size_t most) {
  std::string shown = EscapeForTerminal(text);
  if (shown.size() <= most) return shown;
  size_t kept = most - 3;
  // No half of a character.
  while (kept > 0 && (shown[kept] & 0xC0) == 0x80) --kept;
  return absl::StrCat(shown.substr(0, kept), "...");
}

std::string ShortCommand(const MeasuredImage& image, size_t most) {
  return Shortened(absl::StrJoin(image.command_line(), " "), most);
}

std::string PlaceText(const CodeFrame& frame) {
  if (frame.file().empty()) {
    return EscapeForTerminal(FileName(frame.module()));
  }
  return EscapeForTerminal(frame.line() > 0
                               ? absl::StrCat(frame.file(), ":", frame.line())
                               : frame.file());
}

absl::string_view FileName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string TableText(TextTable table,
                      const std::vector<std::vector<std::string>>& rows) {
  for (const std::vector<std::string>& row : rows) table.Fit(row);
  std::string text = table.Headings();
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&text, table.Row(row));
  }
  return text;
}

int64_t BeginTimeNs(const MeasuredRun& run) {
  return run.images_size() == 0 ? 0 : run.images(0).begin_time_ns();
}

std::string StageName(const MeasuredImage& image, size_t stage) {
  constexpr size_t kMostNameBytes = 60;
  constexpr int kMostLevels = 8;
  std::string name;
  for (int level = 0; stage != 0 && level < kMostLevels &&
                      stage < static_cast<size_t>(image.stages_size());
       ++level) {
    const StageFigures& figures = image.stages(static_cast<int>(stage));
    name = absl::StrCat(Shortened(figures.name(), kMostNameBytes),
                        name.empty() ? "" : " / ", name);
    stage = figures.parent();
  }
  return name.empty() ? "outside of stages" : name;
}

}  // namespace footprint
