// Makes a gate's input with a limit that does not hold, for tests of
// explanations.
//
//   const GateInput input = ExplainedInput();
//
// Returns plain values; thread-safe. Memory: a few KiB.

#ifndef FOOTPRINT_GATES_EXPLAINING_EXPLAINED_INPUT_H_
#define FOOTPRINT_GATES_EXPLAINING_EXPLAINED_INPUT_H_

#include <string>

#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {

inline MemoryProfile ExplainedProfile() {
  MemoryProfile profile;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        label: "//a:b"
        process_count: 3
        environment { compiler: "gcc" }
        benchmarks {
          name: "BM_Fit/rows:10"
          metrics {
            kind: PEAK_LIVE_USABLE_BYTES
            determinism: EXACT
            value: 2097152
          }
          phases {
            name: "fit"
            parent: -1
            metrics {
              kind: PEAK_LIVE_USABLE_BYTES
              determinism: EXACT
              value: 1500
            }
          }
          phases {
            name: "read"
            parent: -1
            metrics {
              kind: PEAK_LIVE_USABLE_BYTES
              determinism: EXACT
              value: 2095000
            }
          }
          peak_attribution { site: "tensor:conv1/weights" live_bytes: 2048 }
        }
        benchmarks {
          name: "BM_Load"
          metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 90 }
        }
      )pb",
      &profile));
  return profile;
}

// The limit of BM_Fit, at t.textproto:6, is a MiB too low. BM_Load keeps its
// limit, at line 14, with a margin of a tenth. An exact value of the phase
// "read" has changed.
inline GateInput ExplainedInput() {
  constexpr char kHeader[] =
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\n"
      "schema_version: 1\n";
  GateInput input;
  input.profiles = {ExplainedProfile()};
  input.thresholds = {
      ParseThresholdFile("x/t.textproto", std::string(kHeader) + R"text(
# The model.
threshold {
  selector { label: "//a:b" benchmark: "BM_Fit/*" }
  metric: PEAK_LIVE_USABLE_BYTES
  max_bytes: 1048576
  owner: "models"
  reason: "the table is held once"
  history { date: "2026-11-21" old_value: 1000000 new_value: 1048576 reason: "a cache" }
}
threshold {
  selector { label: "//a:b" benchmark: "BM_Load" }
  metric: PEAK_LIVE_USABLE_BYTES
  max_bytes: 100
}
)text"),
      ParseThresholdFile("x/t.gcc.textproto", std::string(kHeader) + R"text(
environment { compiler: "gcc" }
threshold {
  selector { label: "//a:b" benchmark: "BM_Fit/rows:10" phase: "read" }
  metric: PEAK_LIVE_USABLE_BYTES
  exact_bytes: 1046424
}
threshold {
  selector { label: "//a:b" benchmark: "BM_Fit/rows:10" phase: "fit" }
  metric: PEAK_LIVE_USABLE_BYTES
  exact_bytes: 1500
}
)text")};
  for (const ThresholdSource& source : input.thresholds) {
    EXPECT_TRUE(source.problems.empty());
  }
  return input;
}

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_EXPLAINED_INPUT_H_
