// The head of a classifier or a reranker, which computes logits from the state
// of a text's first token.
//
//   absl::StatusOr<std::vector<footprint::DenseLayer>> head =
//       footprint::FindEncoderHead(encoder->config(), &encoder->store());
//   absl::StatusOr<std::vector<float>> logits =
//       footprint::ApplyLayers(*head, states.first(hidden));
//
// Heads are those of ...ForSequenceClassification of each family: BERT's pooler
// and classifier; the two layers of the classifier of RoBERTa, XLM-R, CamemBERT
// and MPNet; and DistilBERT's two layers, with ReLU between them.
//
// Thread-safe; ApplyLayers reads the layers from the store, which must outlive
// them. Memory: one row and the vectors between layers.
//
// The error is NotFound if the checkpoint has no head. The error is
// InvalidArgument if the head has another shape. Errors of ApplyLayers are the
// store's.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_HEAD_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_HEAD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/models/dense_layer.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// Returns the two layers of the head, in order.
absl::StatusOr<std::vector<DenseLayer>> FindEncoderHead(
    const EncoderConfig& config, WeightStore* store);

// Applies the layers one after the other and returns the last one's output.
absl::StatusOr<std::vector<float>> ApplyLayers(
    absl::Span<const DenseLayer> layers, absl::Span<const float> vector);

}  // namespace footprint

// Tested by text_embedder_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_HEAD_H_
