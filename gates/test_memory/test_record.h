// Writes and parses the memory that one run of a test took, as a small JSON
// file among the test's outputs.
//
//   TestRecord record;
//   record.target = "//memo:memo_test";
//   record.peak_resident_bytes = 7340032;
//   absl::StatusOr<TestRecord> read = ParseTestRecord(WriteTestRecord(record));
//
// Pure functions, thread-safe; a record owns its text. Memory and time: linear
// in the text. Readers read at most kMostTestRecordBytes.

#ifndef FOOTPRINT_GATES_TEST_MEMORY_TEST_RECORD_H_
#define FOOTPRINT_GATES_TEST_MEMORY_TEST_RECORD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// The name of the file in TEST_UNDECLARED_OUTPUTS_DIR.
inline constexpr char kTestRecordName[] = "footprint_test_memory.json";

inline constexpr int64_t kMostTestRecordBytes = 65536;

struct TestRecord {
  enum class End { kRunning, kExited, kSignalled };

  std::string target;  // "//memo:memo_test"
  // The resident set of the test and of all processes that it started; each
  // page counts once.
  int64_t peak_resident_bytes = 0;
  // The bytes of the peak by the kind of page.
  int64_t anonymous_bytes = 0;
  int64_t file_bytes = 0;
  int64_t shared_bytes = 0;
  int64_t process_count = 0;  // at that moment
  // kRunning: the end was not written, because Bazel or the kernel killed the
  // recorder.
  End end = End::kRunning;
  int64_t end_number = 0;  // the exit status or the signal's number
};

// Returns the record as JSON.
std::string WriteTestRecord(const TestRecord& record);

// Parses a record. Returns kInvalidArgument if the text is cut short or
// damaged, or if a newer version wrote it.
absl::StatusOr<TestRecord> ParseTestRecord(absl::string_view text);

// Returns "exit status 1", "killed by signal 9", "not ended"; empty if all went
// well.
std::string DescribeTestEnd(const TestRecord& record);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TEST_MEMORY_TEST_RECORD_H_
