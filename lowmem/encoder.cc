#include "footprint/lowmem/encoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/encoder_run.h"

namespace footprint {
namespace {

// Whole pages at both ends of a run of bytes.
constexpr int64_t kDirectOverheadBytes = 2 * kSlotAlignmentBytes;

// What the matrices that are streamed ask of a plan.
class StreamingNeeds {
 public:
  StreamingNeeds(const WeightStore& store, const EncoderWeights& weights)
      : store_(store) {
    for (const EncoderLayerWeights& layer : weights.layers) {
      Add(layer.query.matrix);
      Add(layer.key.matrix);
      Add(layer.value.matrix);
      Add(layer.attention_output.matrix);
      Add(layer.expand.matrix);
      Add(layer.contract.matrix);
    }
  }

  int64_t largest_element_bytes() const { return largest_element_bytes_; }
  bool has_narrow_weights() const { return has_narrow_weights_; }
  bool uses_slots() const { return uses_slots_; }

 private:
  void Add(const Weight& matrix) {
    const int64_t bytes = DTypeBytes(matrix.dtype());
    largest_element_bytes_ = std::max(largest_element_bytes_, bytes);
    has_narrow_weights_ |= bytes < 4;
    // Also where weights are used where they lie: a tensor that begins in the
    // middle of an element must be copied.
    const absl::StatusOr<Tile> tile = matrix.Block(
        0, std::min<int64_t>(2, matrix.rows()), 0, matrix.panel_columns());
    uses_slots_ |= !tile.ok() || store_.SlotBytes(*tile) > 0;
  }

  const WeightStore& store_;
  int64_t largest_element_bytes_ = 0;
  bool has_narrow_weights_ = false;
  bool uses_slots_ = false;
};

}  // namespace

Encoder::Encoder(const EncoderConfig& config,
                 std::unique_ptr<WeightStore> store, EncoderWeights weights)
    : config_(config), store_(std::move(store)), weights_(std::move(weights)) {}

absl::StatusOr<std::unique_ptr<Encoder>> Encoder::Open(
    absl::string_view directory, WeightBackend backend) {
  absl::StatusOr<EncoderConfig> config =
      ReadEncoderConfig(absl::StrCat(directory, "/config.json"));
  if (!config.ok()) return config.status();
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      WeightStore::Open(absl::StrCat(directory, "/model.safetensors"), backend);
  if (!store.ok()) return store.status();
  absl::StatusOr<EncoderWeights> weights = FindEncoderWeights(**store, *config);
  if (!weights.ok()) return weights.status();
  return absl::WrapUnique(
      new Encoder(*config, *std::move(store), *std::move(weights)));
}

EncoderPlanRequest Encoder::Request(int64_t tokens, int workers) const {
  const StreamingNeeds needs(*store_, weights_);
  EncoderPlanRequest request;
  request.config = config_;
  request.tokens = tokens;
  request.workers = workers;
  request.element_bytes = needs.largest_element_bytes();
  request.has_narrow_weights = needs.has_narrow_weights();
  request.uses_slots = needs.uses_slots();
  if (store_->backend() == WeightBackend::kDirect) {
    request.slot_overhead_bytes = kDirectOverheadBytes;
  }
  return request;
}

absl::StatusOr<EncoderPlan> Encoder::Plan(int64_t tokens, int workers,
                                          int64_t budget_bytes) const {
  return PlanEncoder(Request(tokens, workers), budget_bytes);
}

absl::StatusOr<int64_t> Encoder::MinBudgetBytes(int64_t tokens,
                                                int workers) const {
  return footprint::MinBudgetBytes(Request(tokens, workers));
}

absl::StatusOr<std::unique_ptr<EncoderRun>> Encoder::Start(
    const EncoderPlan& plan) const {
  return lowmem_internal::StartEncoderRun(config_, weights_, store_.get(),
                                          plan);
}

}  // namespace footprint
