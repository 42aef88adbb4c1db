// Makes a verdict with outcomes of several kinds, for tests of reports.
//
//   const Verdict verdict = ExampleVerdict();
//
// Pure function, thread-safe; the caller owns the verdict. Memory: a few KiB.

#ifndef FOOTPRINT_GATES_REPORTS_EXAMPLE_VERDICT_H_
#define FOOTPRINT_GATES_REPORTS_EXAMPLE_VERDICT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {

inline Verdict ExampleVerdict() {
  Verdict verdict;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        decision: REJECT
        judgements {
          label: "//a:b"
          benchmark: "BM_Fit/rows:10"
          metric: PEAK_LIVE_USABLE_BYTES
          measured: 1572864
          limit: 2097152
          rule: MAXIMUM
          severity: BLOCK
          decision: ACCEPT
          threshold_location: "t.textproto:4"
        }
        judgements {
          label: "//a:b"
          benchmark: "BM_Fit/rows:10"
          phase: "loop/read"
          metric: ALLOCATION_COUNT
          measured: 1001
          limit: 1000
          rule: EXACT_VALUE
          severity: BLOCK
          decision: REJECT
          threshold_location: "t.textproto:9"
          command_to_accept: "bazel run //gates:update -- --only=//a:b"
        }
        judgements {
          label: "//c:d"
          benchmark: "BM_Load"
          metric: PEAK_LIVE_USABLE_BYTES
          measured: 10
          limit: 20
          rule: MINIMUM
          severity: WARN
          decision: REJECT
          threshold_location: "t.textproto:14"
          command_to_accept: "bazel run //gates:update -- --only=//c:d"
        }
        problems {
          decision: PRODUCER_FAILED
          location: "//e:f"
          message: "gave no measurement\nlast words"
        }
      )pb",
      &verdict));
  return verdict;
}

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_EXAMPLE_VERDICT_H_
