// Reads the shape of a decoder from the keys of its GGUF file.
//
//   absl::StatusOr<footprint::GgufIndex> index =
//       footprint::GgufIndex::Open("Llama-3.2-1B-Q4_0.gguf");
//   absl::StatusOr<std::unique_ptr<footprint::WeightStore>> store = ...;
//   absl::StatusOr<footprint::DecoderConfig> config =
//       footprint::ReadGgufConfig(*index, **store);
//
// Architectures: those of decoder_form.h, of which files of Mistral and SmolLM2
// have "llama", and "gpt2". The keys are passed to ParseDecoderConfig in the
// form of a config.json, so that both go through the same checks. Some settings
// have no key and come from the tensors: the vocabulary, whether the output's
// matrix is that of the words, which biases exist, and the factors of the
// rotation (rope_freqs.weight, rope_factors_short.weight).
//
// GGUF files differ from published checkpoints in three ways that change the
// computation: "llama" has the rows of queries and keys in another order, the
// gains of Gemma's norms already include the 1 that is added to them, and
// GPT-2's matrices are not transposed.
//
// The error is InvalidArgument if keys contradict each other, a number is not
// finite, or the tensor of factors has another shape. The error is
// Unimplemented for another architecture, a model in several files, mixtures of
// experts, keys and values of different lengths, an unknown scaling of
// positions, or another key that changes the computation, such as softcapping.
// The error is NotFound if a key or tensor is missing. Other errors are those
// of ParseDecoderConfig and of the store.
//
// Thread-safe. Memory: a few KiB.

#ifndef FOOTPRINT_LOWMEM_MODELS_GGUF_CONFIG_H_
#define FOOTPRINT_LOWMEM_MODELS_GGUF_CONFIG_H_

#include "absl/status/statusor.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// Returns the shape. `store` must be that of the same file.
absl::StatusOr<DecoderConfig> ReadGgufConfig(const GgufIndex& index,
                                             WeightStore& store);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_GGUF_CONFIG_H_
