// The shape of a decoder, read from the keys of its GGUF file.
//
//   absl::StatusOr<footprint::GgufIndex> index =
//       footprint::GgufIndex::Open("Llama-3.2-1B-Q4_0.gguf");
//   absl::StatusOr<std::unique_ptr<footprint::WeightStore>> store = ...;
//   absl::StatusOr<footprint::DecoderConfig> config =
//       footprint::ReadGgufConfig(*index, **store);
//
// Architectures: "llama" (which Mistral's files and SmolLM2's have, too),
// "qwen2", "qwen3", "gemma3", "phi3" and "gpt2". The keys are told to
// ParseDecoderConfig as a config.json, so both have one set of checks. What
// only the tensors say is looked up there: the vocabulary, whether the output's
// matrix is that of the words, which biases there are, and the factors of the
// rotation (rope_freqs.weight, rope_factors_short.weight).
//
// GGUF files differ from published ones in three things that change the
// computation: rows of queries and keys of "llama" are in another order, gains
// of Gemma's norms hold the one that is added, and no matrix of GPT-2 lies
// transposed.
//
// InvalidArgument: keys that contradict each other. Unimplemented: another
// architecture, one file of several, experts. NotFound: a key or tensor is
// missing. Otherwise the errors of ParseDecoderConfig and of the store.
//
// Thread-safe. Memory: a few KiB.

#ifndef FOOTPRINT_LOWMEM_MODELS_GGUF_CONFIG_H_
#define FOOTPRINT_LOWMEM_MODELS_GGUF_CONFIG_H_

#include "absl/status/statusor.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// `store` is of the same file.
absl::StatusOr<DecoderConfig> ReadGgufConfig(const GgufIndex& index,
                                             WeightStore& store);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_GGUF_CONFIG_H_
