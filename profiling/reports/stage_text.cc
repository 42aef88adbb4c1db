#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"

namespace footprint {
namespace {

constexpr size_t kMaxStages = 24;
constexpr size_t kMaxNameBytes = 60;
// Of imports and files below it there may be hundreds.
constexpr double kLeastShare = 0.005;

// The stages of one process as lines of a tree, most at their peak first.
class StageTree {
 public:
  explicit StageTree(const MeasuredImage& image)
      : image_(image), inside_(static_cast<size_t>(image.stages_size())) {
    for (int i = 1; i < image.stages_size(); ++i) {
      inside_[image.stages(i).parent()].push_back(i);
    }
    for (std::vector<int>& stages : inside_) {
      std::stable_sort(stages.begin(), stages.end(), [&](int a, int b) {
        return image.stages(a).peak_live_bytes() >
               image.stages(b).peak_live_bytes();
      });
    }
    if (!inside_.empty()) AddInside(0, 0);
  }

  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  int left_out_count() const { return left_out_count_; }

 private:
  bool IsShown(const StageFigures& stage, int number) const {
    if (rows_.size() >= kMaxStages) return false;
    return stage.kind() == StageFigures::NAMED ||
           static_cast<double>(
               std::max(stage.peak_live_bytes(), stage.allocated_bytes())) >=
               kLeastShare * static_cast<double>(image_.peak_live_bytes()) ||
           !inside_[static_cast<size_t>(number)].empty();
  }

  // Stages stand behind their parents, so this ends.
  void AddInside(size_t parent, size_t depth) {
    for (int number : inside_[parent]) {
      const StageFigures& stage = image_.stages(number);
      if (IsShown(stage, number)) {
        rows_.push_back(Cells(stage, depth));
      } else {
        ++left_out_count_;
      }
      AddInside(static_cast<size_t>(number), depth + 1);
    }
  }

  std::vector<std::string> Cells(const StageFigures& stage,
                                 size_t depth) const {
    return {FormatRoundedBytes(stage.peak_live_bytes()),
            Share(stage.peak_live_bytes(), image_.peak_live_bytes()),
            FormatRoundedBytes(stage.allocated_bytes()),
            Share(stage.allocated_bytes(), image_.allocated_bytes()),
            FormatRoundedBytes(stage.net_growth_bytes()),
            FormatCount(stage.visit_count()),
            Seconds(stage.wall_time_ns()),
            absl::StrCat(std::string(2 * depth, ' '), Name(stage))};
  }

  static std::string Name(const StageFigures& stage) {
    return absl::StrCat(
        stage.kind() == StageFigures::IMPORT ? "import "
        : stage.kind() == StageFigures::FILE ? "file "
                                             : "",
        Shortened(EscapeForTerminal(stage.name()), kMaxNameBytes),
        stage.was_left_open() ? " (left open)" : "");
  }

  const MeasuredImage& image_;
  std::vector<std::vector<int>> inside_;
  std::vector<std::vector<std::string>> rows_;
  int left_out_count_ = 0;
};

}  // namespace

std::string StageText(const MeasuredImage& image) {
  const StageTree tree(image);
  if (tree.rows().empty()) return "";
  TextTable table({{"peak above", TextTable::kFigures},
                   {"share", TextTable::kFigures},
                   {"allocated", TextTable::kFigures},
                   {"share", TextTable::kFigures},
                   {"left", TextTable::kFigures},
                   {"visits", TextTable::kFigures},
                   {"time", TextTable::kFigures},
                   {"stage"}});
  for (const std::vector<std::string>& row : tree.rows()) table.Fit(row);
  std::string text = table.Headings();
  for (const std::vector<std::string>& row : tree.rows()) {
    absl::StrAppend(&text, table.Row(row));
  }
  if (tree.left_out_count() > 0) {
    absl::StrAppend(&text, "and ", FormatCount(tree.left_out_count()),
                    tree.left_out_count() == 1 ? " stage" : " stages",
                    " that needed less\n");
  }
  return absl::StrCat(
      text,
      "exact: the most above what was live at a visit's begin; shares are of "
      "the process's peak and volume\n");
}

}  // namespace footprint
