#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/sum_by_place.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {

std::string CopyText(const MeasuredRun& run, const MeasuredImage& image) {
  constexpr size_t kMaxRows = 5;
  constexpr size_t kMaxFunctionBytes = 60;
  if (image.copies().empty()) return "";
  Amount all;
  for (const CopyAmounts& copy : image.copies()) AddTo(copy.copied(), &all);
  TextTable table({{"copied", TextTable::kFigures},
                   {"share", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> cells;
  for (const PlaceSum<Amount>&each : SumByPlace<Amount>(
           run, image.copies(),
           [](const CopyAmounts&copy, Amount*sum) {
             AddTo(copy.copied(), sum);
           },
           [](const Amount&sum) { return sum.bytes(); })) {
    if (cells.size() == kMaxRows || each.sum.bytes() <= 0) break;
    cells.push_back({FormatRoundedBytes(each.sum.bytes()),
                     Share(each.sum.bytes(), all.bytes()),
                     Shortened(each.frame.function(), kMaxFunctionBytes),
                     PlaceText(each.frame)});
  }
  if (cells.empty()) return "";
  std::string text = TableText(table, cells);
  return absl::StrCat(text, FormatRoundedBytes(all.bytes()),
                      " in all were copied\n");
}

}  // namespace footprint
