#include "footprint/lowmem/checkpoints/checkpoint_generator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/lowmem/kernels/half_float.h"

namespace footprint {
namespace {

constexpr int64_t kChunkElements = 64 * 1024;

// Hashes a number.
uint64_t Mixed(uint64_t value) { return RandomAt(value, 1); }

uint64_t TensorSeed(uint64_t seed, absl::string_view name) {
  uint64_t mixed = Mixed(seed);
  for (const char c : name)
    mixed = Mixed(mixed ^ static_cast<unsigned char>(c));
  return mixed;
}

// Returns whether the tensor holds the gains of a layer normalisation, by the
// names that these have in the known families.
bool IsGain(absl::string_view name) {
  if (!absl::EndsWith(name, ".weight")) return false;
  name.remove_suffix(7);  // ".weight"
  return absl::EndsWith(name, "LayerNorm") || absl::EndsWith(name, "norm") ||
         absl::EndsWith(name, "ln_1") || absl::EndsWith(name, "ln_2") ||
         absl::EndsWith(name, "ln_f") || absl::EndsWith(name, "emb_ln") ||
         absl::EndsWith(name, "norm1") || absl::EndsWith(name, "norm2");
}

// Returns a nearly normal number with mean 0 and deviation 0.02. The sum of
// four uniform 16-bit numbers, less its mean, has variance 4 (2^32 - 1) / 12
// and so deviation 37837.
float WeightValue(uint64_t mixed) {
  constexpr float kFactor = 0.02f / 37837.0f;
  const int32_t sum =
      static_cast<int32_t>((mixed & 0xffff) + (mixed >> 16 & 0xffff) +
                           (mixed >> 32 & 0xffff) + (mixed >> 48)) -
      2 * 65535;
  return static_cast<float>(sum) * kFactor;
}

// Returns a uniform number from 0.8 to just below 1.2.
float GainValue(uint64_t mixed) {
  constexpr float kFactor = 0.8f / 131072.0f;
  return static_cast<float>(131072 + static_cast<int32_t>(mixed & 0xffff)) *
         kFactor;
}

void EncodeValues(uint64_t tensor_seed, bool gain, DType dtype, int64_t begin,
                  int64_t count, char* bytes) {
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t mixed =
        Mixed(tensor_seed + static_cast<uint64_t>(begin + i));
    const float value = gain ? GainValue(mixed) : WeightValue(mixed);
    if (dtype == DType::kF32) {
      memcpy(bytes + 4 * i, &value, 4);
    } else {
      const uint16_t half = dtype == DType::kBF16 ? RoundToBfloat16(value)
                                                  : RoundToFloat16(value);
      memcpy(bytes + 2 * i, &half, 2);
    }
  }
}

absl::Status WriteValues(const std::vector<TensorSpec>& tensors,
                         const CheckpointOptions& options,
                         SafetensorsWriter& writer) {
  const int64_t element_bytes = DTypeBytes(options.dtype);
  std::string chunk(static_cast<size_t>(kChunkElements * element_bytes), '\0');
  int64_t done_bytes = 0;
  for (const TensorSpec& tensor : tensors) {
    const uint64_t seed = TensorSeed(options.seed, tensor.name);
    const bool gain = IsGain(tensor.name);
    // SafetensorsWriter::Create has refused sizes that overflow.
    const int64_t elements =
        *TensorBytes(tensor.dtype, tensor.shape) / element_bytes;
    for (int64_t begin = 0; begin < elements; begin += kChunkElements) {
      const int64_t count = std::min(kChunkElements, elements - begin);
      EncodeValues(seed, gain, options.dtype, begin, count, &chunk[0]);
      absl::Status written = writer.Append(chunk.data(), count * element_bytes);
      if (!written.ok()) return written;
      done_bytes += count * element_bytes;
      if (options.progress) options.progress(done_bytes, writer.file_bytes());
    }
  }
  // `done_bytes` is without the header, so only this call reports the whole
  // file.
  if (options.progress) {
    options.progress(writer.file_bytes(), writer.file_bytes());
  }
  return absl::OkStatus();
}

}  // namespace

float CheckpointValue(uint64_t seed, absl::string_view name, int64_t index) {
  const uint64_t mixed =
      Mixed(TensorSeed(seed, name) + static_cast<uint64_t>(index));
  return IsGain(name) ? GainValue(mixed) : WeightValue(mixed);
}

absl::Status WriteCheckpoint(absl::string_view folder,
                             const CheckpointShape& shape,
                             const CheckpointOptions& options) {
  absl::StatusOr<std::vector<TensorSpec>> tensors =
      CheckpointTensors(shape, options.dtype);
  if (!tensors.ok()) return tensors.status();
  SafetensorsWriterOptions writer_options;
  // Public checkpoints name PyTorch here, and some versions of transformers
  // refuse files that name no framework.
  writer_options.metadata["format"] = "pt";
  absl::StatusOr<SafetensorsWriter> writer = SafetensorsWriter::Create(
      absl::StrCat(folder, "/model.safetensors"), *tensors, writer_options);
  if (!writer.ok()) return writer.status();
  absl::Status status = WriteValues(*tensors, options, *writer);
  if (status.ok()) status = writer->Finish();
  if (!status.ok()) return status;
  return ReplaceFile(absl::StrCat(folder, "/config.json"),
                     CheckpointConfig(shape, options.dtype), ToDisk::kFlush);
}

}  // namespace footprint
