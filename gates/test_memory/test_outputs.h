// Reads the memory record among a test's outputs.
//
//   absl::StatusOr<TestRecord> record =
//       ReadRecordOfOutputs("bazel-testlogs/app/load_test/test.outputs");
//
// Bazel keeps outputs as outputs.zip, or as they are
// (--nozip_undeclared_test_outputs).
//
// Thread-safe: no state is kept. Memory: 64 KiB. Time: linear in the archive.

#ifndef FOOTPRINT_GATES_TEST_MEMORY_TEST_OUTPUTS_H_
#define FOOTPRINT_GATES_TEST_MEMORY_TEST_OUTPUTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/gates/test_memory/test_record.h"

namespace footprint {

// Reads the record of a folder of outputs. Returns kNotFound if the outputs
// have no record, kInvalidArgument if the archive or the record is damaged, and
// else ReadWholeFile's errors.
absl::StatusOr<TestRecord> ReadRecordOfOutputs(const std::string& folder);

}  // namespace footprint

// Tested by recorded_tests_test.

#endif  // FOOTPRINT_GATES_TEST_MEMORY_TEST_OUTPUTS_H_
