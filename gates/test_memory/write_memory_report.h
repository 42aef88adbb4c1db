// The peaks of recorded tests as text, Markdown or JSON.
//
//   absl::StatusOr<std::string> text = WriteMemoryReport("markdown", tests);
//   if (!text.ok()) return text.status();
//
// Pure; thread-safe. Memory: the report (memory_report.h) and the text.

#ifndef FOOTPRINT_GATES_TEST_MEMORY_WRITE_MEMORY_REPORT_H_
#define FOOTPRINT_GATES_TEST_MEMORY_WRITE_MEMORY_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/gates/test_memory/recorded_tests.h"

namespace footprint {

// kInvalidArgument: the format is not text, markdown or json.
absl::StatusOr<std::string> WriteMemoryReport(
    const std::string& format, absl::Span<const RecordedTest> tests);

}  // namespace footprint

// Tested by memory_report_test.

#endif  // FOOTPRINT_GATES_TEST_MEMORY_WRITE_MEMORY_REPORT_H_
