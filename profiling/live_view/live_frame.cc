#include "footprint/profiling/live_view/live_frame.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/timeline_text.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/own_lines.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

constexpr int kMostNameColumns = 40;

bool ContinuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// Cuts UTF-8 after so many characters.
std::string CutTo(absl::string_view text, int columns) {
  size_t end = 0;
  for (int count = 0; end < text.size(); ++end) {
    if (!ContinuesCharacter(text[end]) && count++ == columns) break;
  }
  return std::string(text.substr(0, end));
}

int64_t LiveBytes(const MeasuredImage& image) {
  return image.timeline().empty() ? image.peak_live_bytes()
                                  : image.timeline().rbegin()->live_bytes();
}

std::string Headline(const MeasuredRun& run, const MeasuredImage& image,
                     int columns) {
  const int64_t begin_ns = image.begin_time_ns();
  const int running = static_cast<int>(std::count_if(
      run.images().begin(), run.images().end(), [](const MeasuredImage& each) {
        return each.end() == MeasuredImage::RUNS_ON;
      }));
  std::string line =
      absl::StrCat("-- memprof: live ", FormatRoundedBytes(LiveBytes(image)),
                   ", peak ", FormatRoundedBytes(image.peak_live_bytes()));
  if (image.peak_time_ns() > begin_ns) {
    absl::StrAppend(&line, " after ", Seconds(image.peak_time_ns() - begin_ns));
  }
  if (running > 1) absl::StrAppend(&line, "; ", running, " processes");
  if (!image.timeline().empty()) {
    const uint32_t stage = image.timeline().rbegin()->stage();
    if (stage != 0 && stage < static_cast<uint32_t>(image.stages_size())) {
      absl::StrAppend(
          &line, "; ",
          CutTo(EscapeForTerminal(StageName(image, stage)), kMostNameColumns));
    }
  }
  absl::StrAppend(&line, " ");
  line.resize(std::max(line.size(), static_cast<size_t>(columns)), '-');
  return line;
}

// Returns the image with the bytes that its sites have now in place of those at
// the peak, by which rows are made and sorted.
MeasuredImage ImageOfNow(const MeasuredImage& image) {
  MeasuredImage now = image;
  for (SiteAmounts& site : *now.mutable_sites()) {
    *site.mutable_at_peak() = site.at_end();
  }
  return now;
}

// A row has room for the name of a file, and seldom for its folder.
std::string ShortPlace(const CodeFrame& frame) {
  return frame.file().empty()
             ? PlaceText(frame)
             : absl::StrCat(FileName(frame.file()), ":", frame.line());
}

std::string RowText(int64_t bytes, int64_t live_bytes, const CodeFrame& frame,
                    absl::string_view called) {
  const double share = live_bytes > 0 ? 100.0 * static_cast<double>(bytes) /
                                            static_cast<double>(live_bytes)
                                      : 0;
  return absl::StrCat(
      absl::StrFormat("%10s %3.0f %%  ", FormatRoundedBytes(bytes),
                      std::min(share, 100.0)),
      EscapeForTerminal(absl::StrCat(ShortPlace(frame), " ", frame.function(),
                                     called.empty() ? "" : " -> ", called)));
}

// Rows of the program's own lines; of a program without such, of any code.
std::vector<std::string> Rows(const MeasuredRun& run,
                              const MeasuredImage& image, size_t most) {
  const MeasuredImage now = ImageOfNow(image);
  const int64_t live_bytes = LiveBytes(image);
  std::vector<std::string> rows;
  for (const OwnLine& line : FindOwnLines(run, now)) {
    if (line.at_peak.bytes() <= 0 || rows.size() == most) break;
    rows.push_back(RowText(line.at_peak.bytes(), live_bytes, line.frame,
                           line.called.function()));
  }
  if (!rows.empty()) return rows;
  for (const SiteRow& row : SiteRows(run, now)) {
    if (row.at_peak.bytes() <= 0 || rows.size() == most) break;
    rows.push_back(RowText(row.at_peak.bytes(), live_bytes, row.frame, ""));
  }
  return rows;
}

}  // namespace

std::vector<std::string> LiveFrameLines(const MeasuredRun& run,
                                        const FrameSize& size) {
  const MeasuredImage* const image = LargestImage(run);
  std::vector<std::string> lines;
  if (image == nullptr) {
    lines.emplace_back("-- memprof: nothing is recorded yet --");
  } else {
    lines.push_back(Headline(run, *image, size.columns));
    if (size.rows > 1) {
      lines.push_back(TimelineBlocks(
          *image, static_cast<size_t>(std::max(size.columns, 1))));
    }
    if (size.rows > 2) {
      for (std::string& row :
           Rows(run, *image, static_cast<size_t>(size.rows) - 2)) {
        lines.push_back(std::move(row));
      }
    }
  }
  if (lines.size() > static_cast<size_t>(size.rows)) {
    lines.resize(static_cast<size_t>(size.rows));
  }
  for (std::string& line : lines) line = CutTo(line, size.columns);
  return lines;
}

}  // namespace footprint
