#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"

namespace footprint {

std::string ThreadText(const MeasuredImage& image) {
  constexpr size_t kMaxThreads = 8;
  std::vector<const MeasuredThread*> threads;
  for (int i = 1; i < image.threads_size(); ++i) {
    threads.push_back(&image.threads(i));
  }
  if (threads.size() < 2) return "";
  std::stable_sort(threads.begin(), threads.end(),
                   [](const MeasuredThread* a, const MeasuredThread* b) {
                     return a->at_peak_bytes() > b->at_peak_bytes();
                   });
  TextTable table({{"thread", TextTable::kFigures},
                   {"at the peak", TextTable::kFigures},
                   {"share", TextTable::kFigures},
                   {"allocated", TextTable::kFigures},
                   {"name"}});
  std::vector<std::vector<std::string>> cells;
  for (size_t i = 0; i < std::min(threads.size(), kMaxThreads); ++i) {
    const MeasuredThread& thread = *threads[i];
    cells.push_back({absl::StrCat(thread.number()),
                     FormatRoundedBytes(thread.at_peak_bytes()),
                     Share(thread.at_peak_bytes(), image.peak_live_bytes()),
                     FormatRoundedBytes(thread.allocated_bytes()),
                     EscapeForTerminal(thread.name())});
  }
  std::string text = TableText(table, cells);
  if (threads.size() > kMaxThreads) {
    absl::StrAppend(&text, "and ", threads.size() - kMaxThreads,
                    " threads with less\n");
  }
  return text;
}

}  // namespace footprint
