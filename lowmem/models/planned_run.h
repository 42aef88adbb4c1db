// A run of a model by its plan, for any family: the arena, the tensors pinned
// in it, and the pass.
//
//   class Run : public PlannedRun<EncoderRun, EncoderConfig, EncoderPlan,
//                                 EncoderPass> { ... };
//   return StartRun<Run>(config, weights, store, plan);
//
// The weights and the store must outlive the run. Thread-compatible. Memory:
// the plan's peak_bytes.
//
// The error is ResourceExhausted if there is no memory for the arena. The error
// is Unavailable if the system refuses to start threads. Other errors are the
// store's, and those of the pass's OpenStreams.

#ifndef FOOTPRINT_LOWMEM_MODELS_PLANNED_RUN_H_
#define FOOTPRINT_LOWMEM_MODELS_PLANNED_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/base/memory/mapped_memory.h"
#include "footprint/lowmem/streaming/model_run.h"
#include "footprint/lowmem/weights/pinned_store.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

// `Interface` is the abstract run of the family.
template <class Interface, class Config, class Plan, class Pass>
class PlannedRun : public Interface {
 public:
  template <class Weights>
  PlannedRun(const Config& config, const Weights& weights, WeightStore* store,
             const Plan& plan, RunMemory memory)
      : config_(config),
        plan_(plan),
        arena_(std::move(memory.arena)),
        pinned_(std::move(memory.pinned)),
        store_(pinned_ == nullptr ? store : pinned_.get()),
        pass_(config_, weights, plan_, arena_, store_) {}

  absl::Status Start() {
    const absl::Status status =
        CheckWorkers(pass_.workers(), plan_.request.workers);
    return status.ok() ? pass_.OpenStreams() : status;
  }

  absl::Span<const int64_t> step_nanoseconds() const override {
    return pass_.step_times().nanoseconds();
  }
  int64_t ResidentArenaBytes() const override {
    return PresentBytes(arena_.At<char>(0), arena_.size_bytes());
  }
  std::string ReadingDescription() const override {
    return pass_.ReadingDescription();
  }

 protected:
  const Config config_;
  const Plan plan_;
  const MappedBlock arena_;
  const std::unique_ptr<PinnedStore> pinned_;  // null: nothing is pinned
  WeightStore* const store_;
  Pass pass_;
};

// Takes the plan's memory, reads the pinned tensors into it, and starts the
// run.
template <class Run, class Config, class Weights, class Plan>
absl::StatusOr<std::unique_ptr<Run>> StartRun(const Config& config,
                                              const Weights& weights,
                                              WeightStore* store,
                                              const Plan& plan) {
  absl::StatusOr<RunMemory> memory =
      TakeRunMemory(plan.peak_bytes, plan.pinned, TensorsToPin(weights), store);
  if (!memory.ok()) return memory.status();
  auto run =
      std::make_unique<Run>(config, weights, store, plan, *std::move(memory));
  const absl::Status status = run->Start();
  if (!status.ok()) return status;
  return run;
}

}  // namespace footprint::lowmem_internal

// Tested by encoder_test and decoder_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_PLANNED_RUN_H_
