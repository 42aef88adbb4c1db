#include "footprint/trainer_manager/runtime/iteration.h"

#include <limits>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

// An iteration with everything that it needs.
struct Passes : TabularSteps {
  explicit Passes(NetworkMode mode, const MemoryOptions& memory = {})
      : TabularSteps(mode, memory), iteration(&runner, &buffers) {
    EXPECT_THAT(runner.EnsureArena(), IsOk());
  }

  Iteration iteration;
};

TEST(IterationTest, MicroBatchesTogetherAreTheBatch) {
  Passes whole(NetworkMode::kTraining);
  MemoryOptions memory;
  memory.micro_batches = 2;
  Passes parts(NetworkMode::kTraining, memory);
  whole.SetBatch({1, 2, 3, 4});
  parts.SetBatch({1, 2, 3, 4});
  for (int i = 0; i < 5; ++i) {
    const auto a = whole.iteration.Train();
    const auto b = parts.iteration.Train();
    ASSERT_THAT(a, IsOk());
    ASSERT_THAT(b, IsOk());
    EXPECT_NEAR(*a, *b, 1e-5f * *a);
  }
}

TEST(IterationTest, ALossThatIsNotFiniteNamesTheFirstLayer) {
  Passes passes(NetworkMode::kTraining);
  passes.SetBatch({1, 2, 3, 4});
  for (const Parameters::Parameter& p : passes.parameters->all()) {
    for (float& value : p.values) value = 3e38f;
  }
  const absl::Status status = passes.iteration.Train().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the loss is"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("first in layer \""));
}

TEST(IterationTest, TellsWhoReadsAValueFirst) {
  Passes passes(NetworkMode::kTraining);
  const auto rows = passes.buffers.ValuesToFill<float>(BatchPart::kInput, 0);
  ASSERT_THAT(rows, IsOk());
  const absl::Status status = passes.iteration.InFirstReader(
      rows->data(), absl::OutOfRangeError("input 0 is odd"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()),
              testing::MatchesRegex("layer \".*\", forward: input 0 is odd"));
}

TEST(IterationTest, InfersUnlessAnOutputIsNotFinite) {
  Passes passes(NetworkMode::kInference);
  const std::vector<float> rows(4 * 13, 0.5f);
  ASSERT_THAT(passes.buffers.LendInputs({InputView(absl::MakeConstSpan(rows))}),
              IsOk());
  EXPECT_THAT(passes.iteration.Infer(), IsOk());
  passes.parameters->all().back().values[0] =
      std::numeric_limits<float>::infinity();
  const absl::Status status = passes.iteration.Infer();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()), HasSubstr("output 0 is inf"));
}

}  // namespace
}  // namespace footprint
