// A dense layer that is applied to one vector after a model: a layer of a
// classifier's head, or a Dense module of sentence-transformers.
//
//   const footprint::DenseLayer layer = {store, weights, DenseKind::kTanh};
//   absl::Status status = layer.Apply(pooled, absl::MakeSpan(features));
//
//   absl::StatusOr<footprint::DenseModule> dense =
//       footprint::DenseModule::Open("LaBSE/2_Dense");
//
// The matrix stays in its file, and each call reads its rows one by one. Sums
// are in double precision.
//
// A layer is plain data; the caller's store must outlive it. A module owns its
// file. Thread-compatible. Memory: one row.
//
// Errors are the store's. Opening a module also fails with NotFound if a file
// is missing, InvalidArgument if its files contradict each other, and
// Unimplemented for another activation; the text names the file.

#ifndef FOOTPRINT_LOWMEM_MODELS_DENSE_LAYER_H_
#define FOOTPRINT_LOWMEM_MODELS_DENSE_LAYER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// The activation that is applied to each sum.
enum class DenseKind { kNone, kTanh, kRelu, kGelu, kSigmoid };

struct DenseLayer {
  WeightStore* store = nullptr;
  LinearWeights weights;  // the bias need not exist
  DenseKind kind = DenseKind::kNone;

  int64_t inputs() const { return weights.matrix.columns(); }
  int64_t outputs() const { return weights.matrix.rows(); }

  // Writes outputs() numbers, computed from inputs() numbers. `input` and
  // `output` must not overlap.
  absl::Status Apply(absl::Span<const float> input,
                     absl::Span<float> output) const;
};

class DenseModule {
 public:
  // Reads config.json of the module's folder and opens its weights
  // (checkpoint_folder.h).
  static absl::StatusOr<DenseModule> Open(const std::string& folder);

  const DenseLayer& layer() const { return layer_; }

 private:
  std::unique_ptr<WeightStore> store_;
  DenseLayer layer_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_DENSE_LAYER_H_
