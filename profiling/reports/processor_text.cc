#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/sum_by_place.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {
namespace {

constexpr size_t kMaxRows = 8;
constexpr size_t kMaxFunctionBytes = 60;

struct Times {
  int64_t native_ns = 0;
  int64_t interpreter_ns = 0;
  int64_t system_ns = 0;

  int64_t all_ns() const {
    return SaturatedSum(SaturatedSum(native_ns, interpreter_ns), system_ns);
  }
};

void AddTime(const ProcessorTime& time, Times* sum) {
  sum->native_ns = SaturatedSum(sum->native_ns, time.native_ns());
  sum->interpreter_ns =
      SaturatedSum(sum->interpreter_ns, time.interpreter_ns());
  sum->system_ns = SaturatedSum(sum->system_ns, time.system_ns());
}

}  // namespace

std::string ProcessorText(const MeasuredRun& run, const MeasuredImage& image,
                          const ReportThreshold& threshold) {
  Times all;
  for (const ProcessorTime& time : image.processor_time()) AddTime(time, &all);
  if (all.all_ns() <= 0) return "";
  TextTable table({{"processor", TextTable::kFigures},
                   {"share", TextTable::kFigures},
                   {"native", TextTable::kFigures},
                   {"interpreter", TextTable::kFigures},
                   {"system", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> cells;
  for (const PlaceSum<Times>& each :
       SumByPlace<Times>(run, image.processor_time(), AddTime,
                         [](const Times& sum) { return sum.all_ns(); })) {
    const int64_t ns = each.sum.all_ns();
    if (cells.size() == kMaxRows || ns <= 0 ||
        threshold.Hides(ns, all.all_ns())) {
      break;
    }
    cells.push_back(
        {Seconds(ns), Share(ns, all.all_ns()), Seconds(each.sum.native_ns),
         Seconds(each.sum.interpreter_ns), Seconds(each.sum.system_ns),
         Shortened(each.frame.function(), kMaxFunctionBytes),
         PlaceText(each.frame)});
  }
  std::string text = TableText(table, cells);
  return absl::StrCat(text, "of ", Seconds(all.all_ns()), ": ",
                      Share(all.native_ns, all.all_ns()), " native, ",
                      Share(all.interpreter_ns, all.all_ns()), " interpreter, ",
                      Share(all.system_ns, all.all_ns()), " system\n");
}

}  // namespace footprint
