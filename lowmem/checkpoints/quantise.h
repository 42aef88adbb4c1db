// Rewrites a checkpoint with quantised matrices, as a GGUF file with the
// checkpoint's own names.
//
//   footprint::QuantiseOptions options;
//   options.type = footprint::DType::kQ4_0;
//   absl::Status status = footprint::Quantise("model.safetensors",
//                                             "model.gguf", options);
//
// Beside the checkpoint's config.json and tokenizer.json, as model.gguf in
// place of model.safetensors, it is the same model for Decoder and Encoder.
// llama.cpp cannot run it, since it lacks the keys that llama.cpp needs.
//
// It quantises matrices of floats whose rows are whole blocks of 32. It does
// not quantise GPT-2's matrices, which lie transposed, or tables of positions
// and of token types. All other tensors are copied as they are: F32, BF16 and
// F16.
//
// The input is as in pack.h. Atomic (see AtomicFile). `progress` is called on
// the caller's thread. Memory: 1 MiB, or a row of the widest matrix, and the
// headers. Time: one pass through the file.
//
// Errors: those of CheckpointInputs and AtomicFile. InvalidArgument: a type
// other than Q8_0 and Q4_0, a output that is a file of the input, a matrix with
// a number that is not finite or beyond a block's (8.3 million, of Q4_0
// 524,032), or no matrix that can be quantised.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_QUANTISE_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_QUANTISE_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {

struct QuantiseOptions {
  DType type = DType::kQ8_0;
  // Called now and then with the bytes written and to be written.
  std::function<void(int64_t, int64_t)> progress;
};

// Returns the type that "q8_0" or "q4_0" names; InvalidArgument for any other
// name.
absl::StatusOr<DType> ParseQuantisedType(absl::string_view name);

absl::Status Quantise(absl::string_view input_path,
                      absl::string_view output_path,
                      const QuantiseOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_QUANTISE_H_
