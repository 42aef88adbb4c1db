#include "footprint/gates/test_memory/memory_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace footprint {
namespace {

// The runs of one target.
struct Target {
  const RecordedTest* largest = nullptr;  // null: none has a record
  const RecordedTest* without = nullptr;  // null: each has a record
};

void Add(const RecordedTest& test, Target* target) {
  if (!test.record.has_value()) {
    target->without = &test;
  } else if (target->largest == nullptr ||
             test.record->peak_resident_bytes >
                 target->largest->record->peak_resident_bytes) {
    target->largest = &test;
  }
}

// Returns what a reader must know of a run: its part, and how it ended.
std::string DescribeRun(const RecordedTest& test) {
  std::vector<std::string> words;
  if (!test.part.empty()) words.push_back(test.part);
  const std::string end = DescribeTestEnd(*test.record);
  if (!end.empty()) words.push_back(end);
  if (!test.status.empty() && test.status != "PASSED") {
    words.push_back(test.status);
  }
  if (test.is_cached) words.push_back("cached");
  return absl::StrJoin(words, ", ");
}

ReportRow ToRow(const std::string& name, const RecordedTest& test) {
  const TestRecord& record = *test.record;
  return {{BytesValue(record.peak_resident_bytes),
           CountValue(record.peak_resident_bytes),
           BytesValue(record.anonymous_bytes), BytesValue(record.file_bytes),
           CountValue(record.process_count), TextValue(name),
           TextValue(DescribeRun(test))},
          name};
}

}  // namespace

Report MakeMemoryReport(absl::Span<const RecordedTest> tests) {
  std::map<std::string, Target> targets;
  for (const RecordedTest& test : tests) Add(test, &targets[test.target]);
  Report report;
  report.title = "Memory of tests";
  ReportTable table;
  table.heading = "Tests";
  table.columns = {{"peak", ReportUnit::kBytes},
                   {"bytes", ReportUnit::kCount},
                   {"anonymous", ReportUnit::kBytes},
                   {"files", ReportUnit::kBytes},
                   {"processes", ReportUnit::kCount},
                   {"test"},
                   {"run"}};
  table.row_name = "test";
  for (const auto& [name, target] : targets) {
    if (target.largest != nullptr) {
      table.rows.push_back(ToRow(name, *target.largest));
    }
    if (target.without == nullptr) continue;
    report.warnings.push_back({absl::StrCat(
        name, target.without->part.empty() ? "" : ", ", target.without->part,
        ": has no peak: ", target.without->why_none)});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const ReportRow& a, const ReportRow& b) {
                     return a.cells[0].number > b.cells[0].number;
                   });
  table.text_rows = table.rows.size();
  report.tables.push_back(std::move(table));
  report.remarks.push_back(
      "The peak is the highest resident set of a test and of all that it "
      "started, each page once, measured from outside");
  return report;
}

}  // namespace footprint
