#include "footprint/profiling/reports/report_words.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/report/report.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {

std::string Seconds(int64_t ns) { return WriteValue(TimeValue(ns)); }

std::string ShortCommand(const MeasuredImage& image, size_t most) {
  return ShortenText(absl::StrJoin(image.command_line(), " "), most);
}

std::string ShortProgram(const MeasuredRun& run) {
  return ShortenText(absl::StrJoin(run.program(), " "), 100);
}

std::string DescribePlace(const CodeFrame& frame) {
  if (frame.file().empty()) return std::string(FileName(frame.module()));
  return frame.line() > 0 ? absl::StrCat(frame.file(), ":", frame.line())
                          : frame.file();
}

std::string PlaceText(const CodeFrame& frame) {
  return EscapeForTerminal(DescribePlace(frame));
}

absl::string_view FileName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);
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
    name = absl::StrCat(ShortenText(figures.name(), kMostNameBytes),
                        name.empty() ? "" : " / ", name);
    stage = figures.parent();
  }
  return name.empty() ? "outside of stages" : name;
}

}  // namespace footprint
