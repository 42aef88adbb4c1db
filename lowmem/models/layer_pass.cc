#include "footprint/lowmem/models/layer_pass.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint::lowmem_internal {

LayerPass::LayerPass(const LayerShape& shape, const ModelPlan& plan,
                     const MappedBlock& arena, WeightStore* store,
                     int64_t steps, int64_t single_tokens)
    : arena_(arena),
      store_(store),
      team_(shape.workers),
      hidden_(arena.At<float>(plan.hidden.offset_bytes)),
      step_times_(steps),
      shape_(shape),
      plan_(plan) {
  single_tokens_.reserve(single_tokens);
}

absl::Status LayerPass::OpenRings(
    int64_t reserved_bytes,
    absl::FunctionRef<absl::Status(int worker, TileList* list)> record) {
  if (plan_.depth == 1) return absl::OkStatus();
  const int64_t tiles = plan_.schedule.size_bytes / shape_.workers /
                        static_cast<int64_t>(sizeof(Tile));
  const int64_t slots_bytes = plan_.slots.size_bytes / shape_.workers;
  for (int worker = 0; worker < team_.size(); ++worker) {
    TileList list;
    list.capacity = absl::MakeSpan(
        arena_.At<Tile>(plan_.schedule.offset_bytes) + worker * tiles, tiles);
    const absl::Status status = record(worker, &list);
    if (!status.ok()) return status;
    absl::StatusOr<std::unique_ptr<TileStream>> stream =
        OpenRing(store_, list, plan_.depth,
                 absl::MakeSpan(arena_.At<char>(plan_.slots.offset_bytes) +
                                    worker * slots_bytes + reserved_bytes,
                                slots_bytes - reserved_bytes));
    if (!stream.ok()) return stream.status();
    // More workers than heads: this one has nothing to read.
    if (*stream == nullptr) continue;
    streams_.push_back(*std::move(stream));
    products_[worker].UseStream(streams_.back().get(), list.tiles());
  }
  return absl::OkStatus();
}

void LayerPass::SetTokens(int64_t tokens, int64_t single_tokens) {
  tokens_ = tokens;
  panels_ = PanelCount(tokens);
  single_tokens_.clear();
  if (plan_.dense.size_bytes == 0) single_tokens = 0;
  for (int64_t token = tokens - single_tokens; token < tokens; ++token) {
    const int64_t panel = token / kPanelTokens;
    const int64_t lane = token % kPanelTokens;
    single_tokens_.push_back({panel, lane, panel, lane});
  }
  joint_panels_ = PanelCount(tokens - single_tokens);
}

void LayerPass::UseInput(const float* panels, int64_t features, int worker) {
  if (single_tokens_.empty()) {
    products_[worker].UsePanels();
  } else {
    products_[worker].UseSingleTokens({panels, features * kPanelTokens},
                                      features, single_tokens_);
  }
}

absl::Status LayerPass::MultiplyShare(const SharedProduct& product,
                                      int worker) {
  UseInput(product.input, product.inputs.size(), worker);
  return MultiplyShareOfSameInput(product, worker);
}

absl::Status LayerPass::MultiplyShareOfSameInput(const SharedProduct& product,
                                                 int worker) {
  const IndexRange share = ComputeShare(
      product.outputs.size(), shape_.output_unit, worker, team_.size());
  ProductEpilogue epilogue = product.epilogue;
  if (epilogue.bias != nullptr) epilogue.bias += share.begin;
  return MultiplyOwn(
      product.matrix,
      {product.outputs.begin + share.begin, product.outputs.begin + share.end},
      product.inputs, {product.input, product.inputs.size() * kPanelTokens},
      epilogue,
      {product.output + share.begin * kPanelTokens, kPanelTokens,
       product.outputs.size() * kPanelTokens},
      worker);
}

absl::Status LayerPass::MultiplyOwn(const Weight& matrix,
                                    const IndexRange& outputs,
                                    const IndexRange& inputs,
                                    const PanelView& input,
                                    const ProductEpilogue& epilogue,
                                    const PanelOutput& output, int worker) {
  const auto multiply = shape_.is_transposed
                            ? &StreamedProduct::MultiplyTransposed
                            : &StreamedProduct::Multiply;
  return (products_[worker].*multiply)(matrix, outputs, inputs, input,
                                       joint_panels_, epilogue, output);
}

absl::Status LayerPass::MultiplyContext(const ContextProduct& product,
                                        int worker) {
  ProductEpilogue epilogue;
  epilogue.bias = product.bias;
  epilogue.accumulate = product.adds_to_output;
  return MultiplyShare({product.matrix,
                        {0, shape_.hidden},
                        {0, shape_.attended},
                        product.context,
                        product.output,
                        epilogue},
                       worker);
}

absl::Status LayerPass::ExpandChunk(const FeedForward& part,
                                    const IndexRange& chunk, int worker) {
  const IndexRange hidden = {0, shape_.hidden};
  const auto outputs = [&chunk](const MatrixPart& matrix) {
    return IndexRange{matrix.first_output + chunk.begin,
                      matrix.first_output + chunk.end};
  };
  const auto bias = [&chunk](const float* all) {
    return all == nullptr ? nullptr : all + chunk.begin;
  };
  ProductEpilogue activated;
  activated.activation = part.activation;
  if (part.gate.matrix == nullptr) {
    activated.bias = bias(part.expand_bias);
    return MultiplyShare({*part.expand.matrix, outputs(part.expand), hidden,
                          part.input, part.chunk, activated},
                         worker);
  }
  activated.bias = bias(part.gate_bias);
  absl::Status status =
      MultiplyShare({*part.gate.matrix, outputs(part.gate), hidden, part.input,
                     part.chunk, activated},
                    worker);
  ProductEpilogue linear;
  linear.bias = bias(part.expand_bias);
  status.Update(
      MultiplyShareOfSameInput({*part.expand.matrix, outputs(part.expand),
                                hidden, part.input, part.gated_chunk, linear},
                               worker));
  if (!status.ok()) return status;
  const IndexRange own =
      ComputeShare(chunk.size(), shape_.output_unit, worker, team_.size());
  for (int64_t panel = 0; panel < panels_; ++panel) {
    const int64_t first = (panel * chunk.size() + own.begin) * kPanelTokens;
    MultiplyPanelsBy(part.gated_chunk + first, own.size(), 1,
                     part.chunk + first);
  }
  return absl::OkStatus();
}

void LayerPass::RunFeedForward(const FeedForward& part, int worker) {
  const IndexRange hidden = {0, shape_.hidden};
  for (int64_t begin = 0; begin < shape_.intermediate;
       begin += shape_.chunk_features) {
    const IndexRange chunk = {
        begin, std::min(shape_.intermediate, begin + shape_.chunk_features)};
    team_.RunPhase([&] { return ExpandChunk(part, chunk, worker); });
    ProductEpilogue contract;
    if (begin == 0) contract.bias = part.contract_bias;
    contract.accumulate = part.adds_to_output || begin > 0;
    team_.RunPhase([&] {
      return MultiplyShare(
          {*part.contract, hidden, chunk, part.chunk, part.output, contract},
          worker);
    });
  }
}

absl::Status LayerPass::CheckStates(int64_t step, int worker) const {
  const IndexRange own = ComputeShare(tokens_, kPanelTokens, worker, workers());
  return CheckTokens(step, own.begin / kPanelTokens, own.size());
}

absl::Status LayerPass::CheckTokens(int64_t step, int64_t panel,
                                    int64_t tokens) const {
  if (TokensAreFinite(hidden_ + panel * HiddenStride(), shape_.hidden,
                      tokens)) {
    return absl::OkStatus();
  }
  return NotFinite(*store_, step == 0 ? "the table of embeddings"
                                      : absl::StrCat("layer ", step - 1));
}

}  // namespace footprint::lowmem_internal
