#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {
namespace {

constexpr size_t kMaxPaths = 5;
// Of a row without branches, the calls that are shown at its ends.
constexpr size_t kShownFirst = 2;
constexpr size_t kShownLast = 4;
constexpr size_t kMaxFunctionBytes = 60;
// A path of less is no help.
constexpr int64_t kLeastShareOfPeak = 20;

struct CallTreeNode {
  uint32_t frame = 0;
  int64_t bytes = 0;
  std::vector<std::unique_ptr<CallTreeNode>> children;

  CallTreeNode* Child(uint32_t child_frame) {
    for (const auto& child : children) {
      if (child->frame == child_frame) return child.get();
    }
    children.push_back(std::make_unique<CallTreeNode>());
    children.back()->frame = child_frame;
    return children.back().get();
  }
};

// The outermost first, to the place.
std::vector<uint32_t> FramesTo(const MeasuredRun& run, uint32_t call) {
  std::vector<uint32_t> frames;
  for (; call != 0; call = run.calls(static_cast<int>(call) - 1).parent()) {
    const uint32_t frame = run.calls(static_cast<int>(call) - 1).frame();
    if (!ServesItsCaller(run.frames(static_cast<int>(frame)))) {
      frames.push_back(frame);
    }
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

class TreeText {
 public:
  explicit TreeText(const MeasuredRun& run) : run_(run) {}

  // The node and, as long as each has one child with the same bytes, those
  // below; then their children, further in.
  void Add(const CallTreeNode& node, size_t depth) {
    std::vector<const CallTreeNode*> row = {&node};
    while (row.back()->children.size() == 1 &&
           row.back()->children[0]->bytes == row.back()->bytes) {
      row.push_back(row.back()->children[0].get());
    }
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t left_out =
          row.size() > kShownFirst + kShownLast + 1 && i == kShownFirst
              ? row.size() - kShownFirst - kShownLast
              : 0;
      if (left_out > 0) {
        AddLine("", depth, absl::StrCat("... ", left_out, " calls"), "");
        i += left_out;
      }
      const CodeFrame& frame = run_.frames(static_cast<int>(row[i]->frame));
      AddLine(i == 0 ? FormatRoundedBytes(row[i]->bytes) : "", depth,
              Shortened(frame.function(), kMaxFunctionBytes), PlaceText(frame));
    }
    for (const auto& child : row.back()->children) Add(*child, depth + 1);
  }

  std::string Text() const {
    return TableText(
        TextTable(
            {{"at the peak", TextTable::kFigures}, {"called from"}, {"where"}}),
        lines_);
  }

 private:
  void AddLine(const std::string& bytes, size_t depth,
               const std::string& function, const std::string& place) {
    lines_.push_back(
        {bytes, absl::StrCat(std::string(2 * depth, ' '), function), place});
  }

  const MeasuredRun& run_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace

std::string CallPathText(const MeasuredRun& run, const MeasuredImage& image,
                         const std::vector<SiteRow>& rows) {
  CallTreeNode root;
  for (size_t i = 0; i < std::min(rows.size(), kMaxPaths); ++i) {
    const int64_t bytes = rows[i].at_peak.bytes();
    if (bytes <= image.peak_live_bytes() / kLeastShareOfPeak) break;
    CallTreeNode* node = &root;
    for (uint32_t frame : FramesTo(run, rows[i].largest_call)) {
      node = node->Child(frame);
      node->bytes += bytes;
    }
  }
  if (root.children.empty()) return "";
  TreeText text(run);
  for (const auto& child : root.children) text.Add(*child, 0);
  return text.Text();
}

}  // namespace footprint
