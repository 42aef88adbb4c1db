// Shapes of public models: their extents, the names and extents of their
// tensors, and their config.json.
//
//   footprint::CheckpointShape shape =
//       *footprint::CheckpointShapeFromName("qwen3-0.6b");
//   absl::StatusOr<std::vector<footprint::TensorSpec>> tensors =
//       footprint::CheckpointTensors(shape, footprint::DType::kBF16);
//
// To make another shape, change the fields of one of these. Plain data and pure
// functions, thread-safe. Memory: about 100 bytes a tensor.
//
// The error is NotFound if there is no shape of that name; the message lists
// all names. The error is InvalidArgument if no model can have the shape, or if
// the type is not F32, BF16 or F16.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_SHAPE_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/checkpoints/model_family.h"

namespace footprint {

struct CheckpointShape {
  ModelFamily family = ModelFamily::kBert;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t token_types = 0;  // BERT and NomicBert only
  // The following fields are for Llama and later families.
  int64_t key_value_heads = 0;
  int64_t head_features = 0;
  bool ties_output = false;
  // The window of sliding layers; 0: no sliding layers. For ModernBERT, too.
  int64_t window = 0;
  // Tokens see those after them, as in EmbeddingGemma.
  bool is_bidirectional = false;

  int64_t query_features() const { return heads * head_features; }
  int64_t key_value_features() const { return key_value_heads * head_features; }
};

// These return the shape of a public model, and the names of all public models.
absl::StatusOr<CheckpointShape> CheckpointShapeFromName(absl::string_view name);
std::vector<std::string> CheckpointShapeNames();

// Returns the tensors in the order of the file.
absl::StatusOr<std::vector<TensorSpec>> CheckpointTensors(
    const CheckpointShape& shape, DType dtype);

// Returns config.json in the form of the public models.
std::string CheckpointConfig(const CheckpointShape& shape, DType dtype);

}  // namespace footprint

// Tested by checkpoint_generator_test.

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_SHAPE_H_
