#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {
namespace {

constexpr size_t kMaxPaths = 5;
// The number of calls shown at each end of a row without branches.
constexpr size_t kShownFirst = 2;
constexpr size_t kShownLast = 4;
// The peak divided by this (5 %): paths with at most these bytes are left out.
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

// Returns the frames from the outermost call to `call`, without those that
// allocate or interpret for their caller.
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

// Makes rows of the tree; deeper nodes are indented further.
class CallTreeRows {
 public:
  CallTreeRows(const MeasuredRun& run, ReportTable* table)
      : run_(run), table_(table) {}

  // Adds the node, with the nodes below it as long as each has one child with
  // the same bytes; then adds their children, indented further.
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
        AddRow(Blank(), depth,
               TextValue(absl::StrCat("... ", left_out, " calls")), Blank());
        i += left_out;
      }
      const CodeFrame& frame = run_.frames(static_cast<int>(row[i]->frame));
      AddRow(i == 0 ? BytesValue(row[i]->bytes) : Blank(), depth,
             TextValue(frame.function()), PathValue(DescribePlace(frame)));
    }
    for (const auto& child : row.back()->children) Add(*child, depth + 1);
  }

 private:
  static ReportValue Blank() {
    ReportValue value;
    value.unit = ReportUnit::kBlank;
    return value;
  }

  void AddRow(ReportValue bytes, size_t depth, ReportValue function,
              ReportValue place) {
    ReportRow row;
    row.cells = {std::move(bytes), std::move(function), std::move(place)};
    row.depth = depth;
    table_->rows.push_back(std::move(row));
  }

  const MeasuredRun& run_;
  ReportTable* const table_;
};

}  // namespace

void AddCallPaths(const MeasuredRun& run, const MeasuredImage& image,
                  const std::vector<SiteRow>& rows, Report* report) {
  CallTreeNode root;
  for (size_t i = 0; i < std::min(rows.size(), kMaxPaths); ++i) {
    const int64_t bytes = rows[i].at_peak.bytes();
    if (bytes <= image.peak_live_bytes() / kLeastShareOfPeak) break;
    CallTreeNode* node = &root;
    for (uint32_t frame : FramesTo(run, rows[i].largest_call)) {
      node = node->Child(frame);
      node->bytes = SaturatedSum(node->bytes, bytes);
    }
  }
  if (root.children.empty()) return;
  ReportTable table;
  table.heading = kCallPathHeading;
  table.row_name = "call";
  table.columns = {
      {"at the peak", ReportUnit::kBytes}, {"called from"}, {"where"}};
  CallTreeRows tree(run, &table);
  for (const auto& child : root.children) tree.Add(*child, 0);
  table.text_rows = table.rows.size();
  report->tables.push_back(std::move(table));
}

}  // namespace footprint
