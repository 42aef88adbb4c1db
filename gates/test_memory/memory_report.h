// Makes a report of the peaks of recorded tests, the largest first.
//
//   const Report report = MakeMemoryReport(tests);
//   std::cout << TableText(report.tables[0]);
//
// Each target with a record has one row, which shows its shard, run or attempt
// with the highest peak. A target with a run that has no record gets a warning.
// Pure; thread-safe; the report owns its texts. Memory: some 300 bytes a
// target. Time: n log n in the tests.

#ifndef FOOTPRINT_GATES_TEST_MEMORY_MEMORY_REPORT_H_
#define FOOTPRINT_GATES_TEST_MEMORY_MEMORY_REPORT_H_

#include "absl/types/span.h"
#include "footprint/base/report/report.h"
#include "footprint/gates/test_memory/recorded_tests.h"

namespace footprint {

Report MakeMemoryReport(absl::Span<const RecordedTest> tests);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TEST_MEMORY_MEMORY_REPORT_H_
