#include "footprint/lowmem/checkpoints/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/gguf/gguf_header.h"
#include "footprint/lowmem/checkpoints/checkpoint_inputs.h"
#include "footprint/lowmem/kernels/quantise_row.h"
#include "footprint/lowmem/weights/float_reader.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {
namespace {

constexpr int64_t kChunkFloats = 128 << 10;

// Endings of the names of matrices that are not quantised: transposed matrices,
// and tables whose rows are added to tokens.
constexpr const char* kKeptNames[] = {".attn.c_attn.weight",
                                      ".attn.c_proj.weight",
                                      ".mlp.c_fc.weight",
                                      ".mlp.c_proj.weight",
                                      "wpe.weight",
                                      "position_embeddings.weight",
                                      "token_type_embeddings.weight"};

bool IsKept(absl::string_view name) {
  for (const char* end : kKeptNames) {
    if (absl::EndsWith(name, end)) return true;
  }
  return false;
}

bool IsFloat(DType type) {
  return type == DType::kF32 || type == DType::kBF16 || type == DType::kF16;
}

class Quantiser {
 public:
  Quantiser(const std::vector<InputWeight>& weights,
            const QuantiseOptions& options)
      : weights_(weights), options_(options) {}

  absl::Status Run(absl::string_view output_path) {
    const std::string header = MakeHeader();
    if (!quantises_) {
      return absl::InvalidArgumentError(
          absl::StrCat(output_path,
                       ": no matrix of the checkpoint has rows of whole blocks "
                       "of 32 floats, so there is nothing to quantise"));
    }
    AtomicFileOptions whole;
    whole.expected_bytes = static_cast<int64_t>(header.size()) + total_bytes_;
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(output_path, whole);
    if (!file.ok()) return file.status();
    absl::Status status = file->Append(header);
    for (const InputWeight& input : weights_) {
      if (status.ok()) status = Write(input, *file);
    }
    return status.ok() ? file->Commit() : status;
  }

 private:
  DType TypeOf(const Weight& weight) const {
    const bool is_matrix =
        weight.shape().rank() == 2 &&
        weight.columns() % BlockOf(options_.type).elements == 0;
    return is_matrix && IsFloat(weight.dtype()) && !IsKept(weight.tensor().name)
               ? options_.type
               : weight.dtype();
  }

  std::string MakeHeader() {
    GgufHeader header;
    // The format requires an architecture. The tensors keep the checkpoint's
    // names.
    header.AddText("general.architecture", "safetensors");
    for (const InputWeight& input : weights_) {
      const DType type = TypeOf(input.weight);
      quantises_ |= type != input.weight.dtype();
      header.AddTensor(input.weight.tensor().name, type, input.weight.shape());
    }
    total_bytes_ = header.data_bytes();
    return header.Build();
  }

  absl::Status Write(const InputWeight& input, AtomicFile& file) {
    const Weight& weight = input.weight;
    const DType type = TypeOf(weight);
    const int64_t before = done_bytes_;
    // A tensor without rows may have no columns.
    const int64_t most_rows = std::max<int64_t>(
        1, kChunkFloats / std::max<int64_t>(1, weight.columns()));
    for (int64_t row = 0; row < weight.rows(); row += most_rows) {
      const int64_t rows = std::min(most_rows, weight.rows() - row);
      const absl::Status status = type == weight.dtype()
                                      ? CopyRows(input, row, rows)
                                      : QuantiseRows(input, row, rows);
      if (!status.ok()) return status;
      const absl::Status appended = Append(file);
      if (!appended.ok()) return appended;
    }
    constexpr int64_t kAlignment = GgufHeader::kAlignmentBytes;
    const int64_t left = (done_bytes_ - before) % kAlignment;
    chunk_.assign(static_cast<size_t>(left == 0 ? 0 : kAlignment - left), '\0');
    return Append(file);
  }

  // Joins panels, since the output has rows in their usual order.
  absl::Status CopyRows(const InputWeight& input, int64_t row, int64_t rows) {
    const Weight& weight = input.weight;
    const int64_t row_bytes = BytesOfElements(weight.dtype(), weight.columns());
    chunk_.resize(static_cast<size_t>(rows * row_bytes));
    const int64_t step = weight.block_columns();
    for (int64_t column = 0; column < weight.columns(); column += step) {
      const int64_t count = std::min(step, weight.columns() - column);
      const absl::StatusOr<Tile> tile = weight.Block(row, rows, column, count);
      if (!tile.ok()) return tile.status();
      piece_.resize(static_cast<size_t>(tile->size_bytes()));
      const absl::Status status = input.store->Read(*tile, &piece_[0]);
      if (!status.ok()) return status;
      const int64_t begin = BytesOfElements(weight.dtype(), column);
      for (int64_t i = 0; i < rows; ++i) {
        std::copy_n(piece_.begin() + i * tile->row_bytes, tile->row_bytes,
                    chunk_.begin() + i * row_bytes + begin);
      }
    }
    return absl::OkStatus();
  }

  absl::Status QuantiseRows(const InputWeight& input, int64_t row,
                            int64_t rows) {
    const Weight& weight = input.weight;
    floats_.resize(static_cast<size_t>(rows * weight.columns()));
    const absl::Status status =
        ReadRows(*input.store, weight, row, rows, floats_.data());
    if (!status.ok()) return status;
    // A block's scale is a 16-bit float; a larger scale would be infinite.
    constexpr float kLargestHalf = 65504;
    const float most = kLargestHalf * (options_.type == DType::kQ8_0 ? 127 : 8);
    for (const float number : floats_) {
      if (std::fabs(number) <= most) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          input.store->index().file_name(), ": tensor \"", weight.tensor().name,
          "\" has ",
          std::isfinite(number)
              ? absl::StrCat(number, ", and a block of ",
                             DTypeName(options_.type), " ends at ", most)
              : "a number that is not finite"));
    }
    const auto count = static_cast<int64_t>(floats_.size());
    chunk_.resize(static_cast<size_t>(BytesOfElements(options_.type, count)));
    QuantiseRow(options_.type, floats_.data(), count,
                reinterpret_cast<uint8_t*>(&chunk_[0]));
    return absl::OkStatus();
  }

  absl::Status Append(AtomicFile& file) {
    done_bytes_ += static_cast<int64_t>(chunk_.size());
    const absl::Status status = file.Append(chunk_);
    if (status.ok() && options_.progress) {
      options_.progress(done_bytes_, total_bytes_);
    }
    return status;
  }

  const std::vector<InputWeight>& weights_;
  const QuantiseOptions& options_;
  bool quantises_ = false;
  std::string chunk_;
  std::string piece_;
  std::vector<float> floats_;
  int64_t done_bytes_ = 0;
  int64_t total_bytes_ = 0;
};

}  // namespace

absl::StatusOr<DType> ParseQuantisedType(absl::string_view name) {
  if (name == "q8_0") return DType::kQ8_0;
  if (name == "q4_0") return DType::kQ4_0;
  return absl::InvalidArgumentError(absl::StrCat(
      "no type \"", name, "\" to quantise to; there are q8_0 and q4_0"));
}

absl::Status Quantise(absl::string_view input_path,
                      absl::string_view output_path,
                      const QuantiseOptions& options) {
  const absl::StatusOr<CheckpointInputs> inputs =
      CheckpointInputs::Open(input_path);
  if (!inputs.ok()) return inputs.status();
  const absl::StatusOr<std::vector<InputWeight>> weights = inputs->Weights();
  if (!weights.ok()) return weights.status();
  if (options.type != DType::kQ8_0 && options.type != DType::kQ4_0) {
    return absl::InvalidArgumentError(
        absl::StrCat("floats are not quantised to ", DTypeName(options.type)));
  }
  const absl::Status apart = inputs->CheckIsNone(output_path);
  if (!apart.ok()) return apart;
  return Quantiser(*weights, options).Run(output_path);
}

}  // namespace footprint
