#include "footprint/lowmem/models/weight_binder.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint {
namespace {

// Public checkpoints hold these beside their weights.
bool IsBuffer(absl::string_view name) {
  return absl::EndsWith(name, "embeddings.position_ids") ||
         absl::EndsWith(name, "embeddings.token_type_ids") ||
         absl::EndsWith(name, ".attn.bias") ||
         absl::EndsWith(name, ".attn.masked_bias") ||
         absl::EndsWith(name, "rotary_emb.inv_freq") ||
         absl::StartsWith(name, "rope_f");  // of GGUF: freqs, factors
}

}  // namespace

int64_t AddStoredBytes(const std::vector<Weight>& weights) {
  int64_t bytes = 0;
  for (const Weight& weight : weights) bytes += weight.tensor().size_bytes;
  return bytes;
}

std::vector<std::string> UnusedTensors(const WeightStore& store,
                                       const std::vector<Weight>& used) {
  absl::flat_hash_set<absl::string_view> names;
  for (const Weight& weight : used) names.insert(weight.tensor().name);
  std::vector<std::string> unused;
  for (const TensorInfo& tensor : store.index().tensors()) {
    if (names.contains(tensor.name) || IsBuffer(tensor.name) ||
        absl::StartsWith(tensor.name, kPaddingPrefix)) {
      continue;
    }
    unused.push_back(tensor.name);
  }
  return unused;
}

WeightBinder::WeightBinder(const WeightStore& store, const std::string& prefix,
                           const std::string& sample)
    : store_(store) {
  if (store.index().FindOrNull(prefix + sample) != nullptr) prefix_ = prefix;
}

bool WeightBinder::Has(const std::string& name) const {
  return store_.index().FindOrNull(prefix_ + name) != nullptr;
}

Weight WeightBinder::Matrix(const std::string& name, int64_t rows,
                            int64_t columns) {
  const Weight matrix = Shaped(name, {rows, columns});
  if (status_.ok() && matrix.block_columns() != matrix.columns() &&
      matrix.block_columns() % kSumBlock != 0) {
    Fail(absl::StrCat(prefix_, name, " is packed in panels of ",
                      matrix.block_columns(), " columns; multiples of ",
                      kSumBlock, " can be computed with: pack it again, ",
                      PackCommand(store_)));
  }
  return matrix;
}

Weight WeightBinder::Vector(const std::string& name, int64_t count) {
  return Shaped(name, {count});
}

LinearWeights WeightBinder::Linear(const std::string& name, int64_t rows,
                                   int64_t columns) {
  return {Matrix(name + ".weight", rows, columns),
          Vector(name + ".bias", rows)};
}

LinearWeights WeightBinder::LinearWithBias(const std::string& name,
                                           int64_t rows, int64_t columns,
                                           bool has_bias) {
  if (has_bias) return Linear(name, rows, columns);
  return {Matrix(name + ".weight", rows, columns), Weight()};
}

LinearWeights WeightBinder::TransposedLinear(const std::string& name,
                                             int64_t inputs, int64_t outputs) {
  // Panels cut between outputs: any width will do.
  const Weight matrix = Shaped(name + ".weight", {inputs, outputs});
  if (matrix.exists() && IsQuantised(matrix.dtype())) {
    Fail(absl::StrCat(prefix_, name, ".weight is quantised along its outputs"));
  }
  return {matrix, Vector(name + ".bias", outputs)};
}

NormTensors WeightBinder::Norm(const std::string& name, int64_t count) {
  const bool old = Has(name + ".gamma");
  return {Vector(name + (old ? ".gamma" : ".weight"), count),
          Vector(name + (old ? ".beta" : ".bias"), count)};
}

void WeightBinder::CheckNoLayer(const std::string& begin, int64_t layers) {
  const std::string beyond = prefix_ + begin;
  for (const TensorInfo& tensor : store_.index().tensors()) {
    if (absl::StartsWith(tensor.name, beyond)) {
      Fail(absl::StrCat("there is ", tensor.name, ", but the config has ",
                        layers, " layers"));
      return;
    }
  }
}

void WeightBinder::Fail(const std::string& what) {
  status_.Update(absl::InvalidArgumentError(
      absl::StrCat(store_.index().file_name(), ": ", what)));
}

Weight WeightBinder::Shaped(const std::string& name, const Shape& shape) {
  const absl::StatusOr<Weight> weight = store_.Find(prefix_ + name);
  if (!weight.ok()) {
    status_.Update(weight.status());
    return Weight();
  }
  if (weight->shape() != shape) {
    Fail(absl::StrCat(prefix_, name, " is ", weight->shape().ToString(),
                      ", but the config asks for ", shape.ToString()));
  }
  const DType type = weight->dtype();
  if (type != DType::kF32 && type != DType::kBF16 && type != DType::kF16 &&
      !IsQuantised(type)) {
    Fail(absl::StrCat(prefix_, name, " holds ", DTypeName(type),
                      "; F32, BF16, F16 and GGUF's quantised types can be "
                      "computed with"));
  }
  return *weight;
}

}  // namespace footprint
