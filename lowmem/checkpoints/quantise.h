// Rewrites a checkpoint with quantised matrices, as a GGUF file with the
// checkpoint's own names.
//
//   footprint::QuantiseOptions options;
//   options.type = footprint::DType::kQ4_0;
//   absl::Status status = footprint::Quantise("model.safetensors",
//                                             "model.gguf", options);
//
// In the folder of the checkpoint's config.json and tokenizer.json, model.gguf
// takes the place of model.safetensors, and Decoder and Encoder read the same
// model. llama.cpp cannot run it, because it lacks the keys that llama.cpp
// needs.
//
// Quantises matrices of floats whose rows are whole blocks of 32. It does not
// quantise GPT-2's matrices, which are transposed, or tables of positions and
// token types. All other tensors are copied unchanged: F32, BF16 and F16.
//
// The input is as in pack.h. The output is atomic (see AtomicFile). `progress`
// is called on the caller's thread. Memory: about 1.5 MiB, or three rows of the
// widest matrix, and the headers. Time: one pass through the file.
//
// Errors: those of CheckpointInputs and AtomicFile. The error is
// InvalidArgument if the type is not Q8_0 or Q4_0, if the output is a file of
// the input, if a matrix has a number that is not finite or is too large for a
// block (8.3 million for Q8_0, 524,032 for Q4_0), or if no matrix can be
// quantised.

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
  // Called now and then with the bytes written so far and in total.
  std::function<void(int64_t, int64_t)> progress;
};

// Returns the type that "q8_0" or "q4_0" names. Returns InvalidArgument for
// other names.
absl::StatusOr<DType> ParseQuantisedType(absl::string_view name);

absl::Status Quantise(absl::string_view input_path,
                      absl::string_view output_path,
                      const QuantiseOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_QUANTISE_H_
