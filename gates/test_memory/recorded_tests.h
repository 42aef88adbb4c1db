// Finds the tests whose memory was recorded: those below Bazel's folder of test
// logs, or those of one invocation.
//
//   absl::StatusOr<std::vector<RecordedTest>> tests =
//       FindRecordedTests("bazel-testlogs");
//   if (!tests.ok()) return tests.status();
//
// A record is a file among a test's outputs, in test.outputs/outputs.zip or in
// a folder (test_record.h). A test that Bazel took from its cache has the
// record of the run that was cached.
//
// Thread-safe: no state is kept, and the caller owns the results. Memory: some
// 300 bytes a test, and the file of events. Time: linear in the files.

#ifndef FOOTPRINT_GATES_TEST_MEMORY_RECORDED_TESTS_H_
#define FOOTPRINT_GATES_TEST_MEMORY_RECORDED_TESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/gates/test_memory/test_record.h"

namespace footprint {

// One run of a test, or of one of its shards.
struct RecordedTest {
  std::string target;  // from its record, else derived from its folder
  std::string part;    // "shard 2 of 3", "run 1 of 2"; empty: the whole test
  std::string status;  // Bazel's "PASSED", "TIMEOUT"; empty: not known
  bool is_cached = false;
  absl::optional<TestRecord> record;
  std::string why_none;  // why there is no record
};

// Returns the tests that have a record below `testlogs`, and those whose record
// cannot be read, in the order of their paths. Bazel keeps an attempt that
// failed elsewhere, so only the last attempt of a test is found. Returns
// kNotFound if the folder does not exist, and FileError's errors if a part of
// it cannot be read. Skips, without an error, folders that this process may not
// open.
absl::StatusOr<std::vector<RecordedTest>> FindRecordedTests(
    const std::string& testlogs);

// Returns the tests of the invocation whose --build_event_json_file= is `path`,
// with and without a record, in the order in which they ended. Returns
// kInvalidArgument if the file has another format or is cut short, and
// ReadWholeFile's errors.
absl::StatusOr<std::vector<RecordedTest>> ReadTestEvents(
    const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TEST_MEMORY_RECORDED_TESTS_H_
