#include "footprint/trainer_manager/execution/gradient_tiles.h"

#include <algorithm>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {
namespace {

constexpr int64_t kTileBytes = 128 * 1024;
constexpr int64_t kFewestRows = 16;
// A step has room for so many operands beside optimizer states: an input, an
// output derivative, a workspace, and a weight and a gradient each of a matrix
// and a bias.
constexpr size_t kMostReads = 2;
constexpr size_t kMostWorkspaces = 1;
constexpr size_t kMostWeights = 2;

bool Reads(const StepUse& use, Role role) {
  return std::any_of(
      use.reads.begin(), use.reads.end(),
      [role](const Operand& operand) { return operand.role == role; });
}

}  // namespace

// Sums over micro-batches have memory of their own, so waiting costs them
// nothing.
bool DefersUpdates(const MemoryOptions& options) {
  return options.atomic_steps || options.clip_global_norm ||
         !options.share_gradients || options.micro_batches > 1;
}

bool CanTileGradient(const ResolvedNetwork& network, const MathBackend& math,
                     const MemoryOptions& options, size_t layer) {
  const ResolvedNetwork::ResolvedLayer& resolved = network.layers[layer];
  const LayerSignature& signature = resolved.signature;
  if (!options.tile_gradients || math.SumBlock() == 0 ||
      DefersUpdates(options) || network.mode != NetworkMode::kTraining ||
      !resolved.is_trained() || !signature.multiplies_by_matrix ||
      !(FindMatrix(signature) == Operand{Role::kWeight, 0}) ||
      signature.weights.size() > kMostWeights ||
      signature.gradient.reads.size() > kMostReads ||
      signature.gradient.writes.size() >
          signature.weights.size() + kMostWorkspaces ||
      Reads(signature.gradient, Role::kWeight) ||
      Reads(signature.derivative, Role::kGradient)) {
    return false;
  }
  const auto users =
      std::count_if(network.layers.begin(), network.layers.end(),
                    [&](const auto& each) { return each.weights_of == layer; });
  const TensorType& matrix = signature.weights[0].spec;
  return resolved.weights_of == layer && users == 1 &&
         GradientTileRows(matrix) < matrix.shape.rows();
}

int64_t GradientTileRows(const TensorType& matrix) {
  const int64_t rows = matrix.shape.rows();
  const int64_t row_bytes = SizeBytes(matrix) / rows;
  return std::min(rows, std::max(kFewestRows, kTileBytes / row_bytes));
}

}  // namespace footprint
