// The peaks of recorded tests as one report, the largest first.
//
//   const Report report = MakeMemoryReport(tests);
//   std::cout << TableText(report.tables[0]);
//
// A target has one row: of its shards, runs and attempts the one that took
// most. Pure; thread-safe; the report owns its texts. Memory: some 300 bytes a
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
