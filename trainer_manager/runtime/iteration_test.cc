#include "footprint/trainer_manager/runtime/iteration.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

// All that an iteration needs, for one mode.
class Passes {
 public:
  Passes(NetworkMode mode, const MemoryOptions& memory)
      : plan_(*PlanExecution(TabularMlp(4), mode, memory)),
        parameters_(*Parameters::Create(plan_, 1)),
        runner_(plan_, *StepTable::Create(plan_, *parameters_), Options(),
                &buffers_),
        buffers_(plan_, runner_.table(), /*watch_lent=*/false),
        iteration_(&runner_, &buffers_) {
    EXPECT_THAT(runner_.EnsureArena(), IsOk());
  }

  BatchBuffers& buffers() { return buffers_; }
  Iteration& iteration() { return iteration_; }
  Parameters& parameters() { return *parameters_; }

 private:
  static ManagerOptions Options() {
    ManagerOptions options;
    options.optimizer = StochasticGradientDescent(0.01f);
    return options;
  }

  const ExecutionPlan plan_;
  const std::shared_ptr<Parameters> parameters_;
  StepRunner runner_;
  BatchBuffers buffers_;
  Iteration iteration_;
};

const std::vector<float>& Rows() {
  static const auto* rows = new std::vector<float>(4 * 13, 0.5f);
  return *rows;
}

void SetBatch(BatchBuffers* buffers) {
  const std::vector<float> labels = {1, 2, 3, 4};
  ASSERT_THAT(buffers->Set(BatchPart::kInput, 0, absl::MakeConstSpan(Rows())),
              IsOk());
  ASSERT_THAT(buffers->Set(BatchPart::kLabel, 0, absl::MakeConstSpan(labels)),
              IsOk());
}

TEST(IterationTest, MicroBatchesTogetherAreTheBatch) {
  Passes whole(NetworkMode::kTraining, {});
  MemoryOptions memory;
  memory.micro_batches = 2;
  Passes parts(NetworkMode::kTraining, memory);
  SetBatch(&whole.buffers());
  SetBatch(&parts.buffers());
  for (int i = 0; i < 5; ++i) {
    const auto a = whole.iteration().Train();
    const auto b = parts.iteration().Train();
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    EXPECT_NEAR(*a, *b, 1e-5f * *a);
  }
}

TEST(IterationTest, ALossThatIsNotFiniteNamesTheFirstLayer) {
  Passes passes(NetworkMode::kTraining, {});
  SetBatch(&passes.buffers());
  for (const Parameters::Parameter& p : passes.parameters().all()) {
    for (float& value : p.values) value = 3e38f;
  }
  const absl::Status status = passes.iteration().Train().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the loss is"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("first in layer \""));
}

TEST(IterationTest, TellsWhoReadsAValueFirst) {
  Passes passes(NetworkMode::kTraining, {});
  const auto rows = passes.buffers().ValuesToFill<float>(BatchPart::kInput, 0);
  ASSERT_THAT(rows, IsOk());
  const absl::Status status = passes.iteration().InFirstReader(
      rows->data(), absl::OutOfRangeError("input 0 is odd"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()),
              testing::MatchesRegex("layer \".*\", forward: input 0 is odd"));
}

TEST(IterationTest, InfersUnlessAnOutputIsNotFinite) {
  Passes passes(NetworkMode::kInference, {});
  ASSERT_THAT(
      passes.buffers().LendInputs({InputView(absl::MakeConstSpan(Rows()))}),
      IsOk());
  EXPECT_THAT(passes.iteration().Infer(), IsOk());
  passes.parameters().all().back().values[0] =
      std::numeric_limits<float>::infinity();
  const absl::Status status = passes.iteration().Infer();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()), HasSubstr("output 0 is inf"));
}

}  // namespace
}  // namespace footprint
