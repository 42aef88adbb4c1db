#include "footprint/profiling/reports/timeline_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/reports/report_words.h"

namespace footprint {
namespace {

constexpr size_t kColumns = 60;
constexpr size_t kMaxNamedStages = 8;
constexpr char kIndent[] = "           ";

struct Column {
  int64_t highest_bytes = 0;
  uint32_t stage = 0;  // the last stage in the column
};

// The part of a process's life that its timeline shows, in equal columns.
struct TimeSpan {
  TimeSpan(const MeasuredImage& image, size_t column_count)
      : begin_ns(image.timeline(0).time_ns()),
        end_ns(std::max(image.end_time_ns(),
                        image.timeline(image.timeline_size() - 1).time_ns())),
        width_ns((end_ns - begin_ns) / static_cast<int64_t>(column_count) + 1) {
  }

  int64_t begin_ns;
  int64_t end_ns;
  int64_t width_ns;  // of a column
};

bool HasTimeline(const MeasuredImage& image) {
  return image.timeline_size() >= 2 && image.peak_live_bytes() > 0;
}

// Returns the process's time in equal parts. Each part starts with the state at
// the end of the one before.
std::vector<Column> Columns(const MeasuredImage& image, const TimeSpan& span,
                            size_t column_count) {
  std::vector<Column> columns(column_count);
  int64_t last_bytes = 0;
  uint32_t last_stage = 0;
  int next = 0;
  for (size_t i = 0; i < column_count; ++i) {
    Column& column = columns[i];
    const int64_t end_ns =
        span.begin_ns + span.width_ns * static_cast<int64_t>(i + 1);
    const bool is_last = i + 1 == column_count;
    column.highest_bytes = last_bytes;
    while (next < image.timeline_size() &&
           (is_last || image.timeline(next).time_ns() < end_ns)) {
      last_bytes = image.timeline(next).live_bytes();
      last_stage = image.timeline(next).stage();
      column.highest_bytes = std::max(column.highest_bytes, last_bytes);
      ++next;
    }
    column.stage = last_stage;
  }
  return columns;
}

// Draws eighths of a line's height; a blank means zero bytes.
std::string Blocks(const std::vector<Column>& columns, int64_t peak_bytes) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄",
                                            "▅", "▆", "▇", "█"};
  std::string text;
  for (const Column& column : columns) {
    const double share = static_cast<double>(column.highest_bytes) /
                         static_cast<double>(peak_bytes);
    const int eighths = column.highest_bytes <= 0
                            ? 0
                            : std::clamp(static_cast<int>(share * 8), 1, 8);
    text += kBlocks[eighths];
  }
  return text;
}

// Returns a line with the letter of each column's stage, and a line that says
// which stage a letter is. Returns "" if no stage fills a column.
std::string StageLines(const MeasuredImage& image,
                       const std::vector<Column>& columns) {
  if (image.stages_size() < 2) return "";
  std::map<uint32_t, char> letters;
  std::string line;
  std::string names;
  for (const Column& column : columns) {
    if (column.stage == 0) {
      line += '.';
      continue;
    }
    const auto [found, is_new] = letters.try_emplace(column.stage, '*');
    if (is_new && letters.size() <= kMaxNamedStages) {
      found->second = static_cast<char>('a' + letters.size() - 1);
      absl::StrAppend(&names, names.empty() ? "" : "  ",
                      std::string(1, found->second), " ",
                      EscapeForTerminal(
                          image.stages(static_cast<int>(column.stage)).name()));
    }
    line += found->second;
  }
  if (letters.empty()) return "";
  if (letters.size() > kMaxNamedStages) absl::StrAppend(&names, "  * others");
  return absl::StrCat("stages     ", line, "\n", kIndent, names, "\n");
}

}  // namespace

std::string TimelineText(const MeasuredImage& image) {
  if (!HasTimeline(image)) return "";
  const TimeSpan span(image, kColumns);
  const std::vector<Column> columns = Columns(image, span, kColumns);
  const size_t peak_column = std::min<size_t>(
      kColumns - 1,
      static_cast<size_t>(
          std::max<int64_t>(0, image.peak_time_ns() - span.begin_ns) /
          span.width_ns));
  return absl::StrCat("timeline   ", Blocks(columns, image.peak_live_bytes()),
                      "\n", kIndent, std::string(peak_column, ' '), "^ ",
                      FormatRoundedBytes(image.peak_live_bytes()), "; ",
                      Seconds(span.end_ns - span.begin_ns), " in all\n",
                      StageLines(image, columns));
}

std::string TimelineBlocks(const MeasuredImage& image, size_t columns) {
  if (!HasTimeline(image)) return "";
  return Blocks(Columns(image, TimeSpan(image, columns), columns),
                image.peak_live_bytes());
}

}  // namespace footprint
