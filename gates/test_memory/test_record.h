// The memory that one run of a test took, as a small file of JSON among the
// test's outputs.
//
//   TestRecord record;
//   record.target = "//memo:memo_test";
//   record.peak_resident_bytes = 7340032;
//   absl::StatusOr<TestRecord> read = ParseTestRecord(WriteTestRecord(record));
//
// Pure functions, thread-safe; a record owns its text. Memory and time: linear
// in the text, of which a reader takes at most kMostTestRecordBytes.

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
  // The resident set of the test and of all that it started, each page once.
  int64_t peak_resident_bytes = 0;
  // The pages of that moment by their kind.
  int64_t anonymous_bytes = 0;
  int64_t file_bytes = 0;
  int64_t shared_bytes = 0;
  int64_t process_count = 0;  // at that moment
  // kRunning: nobody wrote how it ended, since the machine or Bazel killed it.
  End end = End::kRunning;
  int64_t end_number = 0;  // the exit status or the signal's number
};

std::string WriteTestRecord(const TestRecord& record);

// kInvalidArgument: the text is cut short or damaged, or a newer version wrote
// it.
absl::StatusOr<TestRecord> ParseTestRecord(absl::string_view text);

// Returns "exit status 1", "killed by signal 9", "not ended"; empty if all went
// well.
std::string DescribeTestEnd(const TestRecord& record);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TEST_MEMORY_TEST_RECORD_H_
