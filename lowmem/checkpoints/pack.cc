#include "footprint/lowmem/checkpoints/pack.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/lowmem/checkpoints/checkpoint_inputs.h"
#include "footprint/lowmem/weights/column_blocks.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {
namespace {

constexpr int64_t kChunkBytes = 256 * 1024;

bool Matches(const ColumnBlockRule& rule, const std::string& name) {
  return fnmatch(rule.pattern.c_str(), name.c_str(), 0) == 0;
}

bool IsMatrix(const Weight& weight) {
  return weight.shape().rank() == 2 && weight.columns() > 0;
}

// Returns the width of the column panels for a weight, or all of its columns if
// it stays in the usual order.
int64_t BlockColumns(const std::vector<ColumnBlockRule>& rules,
                     const Weight& weight) {
  for (const ColumnBlockRule& rule : rules) {
    if (!Matches(rule, weight.tensor().name)) continue;
    if (rule.block_columns == 0 || !IsMatrix(weight)) break;
    return std::min(rule.block_columns, weight.columns());
  }
  return weight.columns();
}

// Fails if the rule matches no matrix, unless it is optional.
absl::Status CheckRule(const ColumnBlockRule& rule,
                       const CheckpointInputs& inputs) {
  std::string others;
  const TensorIndex& index = inputs.store().index();
  for (const TensorInfo& tensor : index.tensors()) {
    if (!Matches(rule, tensor.name)) continue;
    const absl::StatusOr<Weight> weight = inputs.store().Find(tensor.name);
    if (!weight.ok()) return weight.status();
    if (IsMatrix(*weight) || rule.block_columns == 0) return absl::OkStatus();
    others = absl::StrCat("\"", tensor.name, "\" of shape ",
                          weight->shape().ToString());
  }
  if (!others.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rule \"", rule.pattern, "\" matches no matrix of ", index.file_name(),
        ", but ", others, ", and only matrices have panels"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "rule \"", rule.pattern, "\" matches no tensor of ", index.file_name(),
      "; its first tensor is \"",
      index.tensors().empty() ? "" : index.tensors()[0].name, "\""));
}

absl::Status CheckRulesMatch(const std::vector<ColumnBlockRule>& rules,
                             const CheckpointInputs& inputs) {
  for (const ColumnBlockRule& rule : rules) {
    if (rule.optional) continue;
    const absl::Status status = CheckRule(rule, inputs);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// A weight that is copied from one file to the other.
struct PackedWeight {
  WeightStore* store = nullptr;
  Weight weight;
  int64_t block_columns = 0;

  bool in_column_blocks() const { return block_columns < weight.columns(); }
  bool was_in_column_blocks() const {
    return weight.block_columns() < weight.columns();
  }
};

class Packer {
 public:
  Packer(const CheckpointInputs& inputs, const PackOptions& options)
      : inputs_(inputs), options_(options) {}

  absl::Status Run(absl::string_view output_path) {
    absl::Status planned = Plan();
    if (!planned.ok()) return planned;
    absl::StatusOr<SafetensorsWriter> writer =
        SafetensorsWriter::Create(output_path, specs_, writer_options_);
    if (!writer.ok()) return writer.status();
    for (const PackedWeight& packed : weights_) {
      absl::Status copied =
          packed.in_column_blocks() || packed.was_in_column_blocks()
              ? CopyColumnBlocks(packed, *writer)
              : CopyBytes(packed, *writer);
      if (!copied.ok()) return copied;
    }
    return writer->Finish();
  }

 private:
  absl::Status Plan() {
    writer_options_.alignment_bytes = kPageBytes;
    for (const auto& [key, value] : inputs_.store().index().metadata()) {
      if (!absl::StartsWith(key, ColumnBlocksKey(""))) {
        writer_options_.metadata[key] = value;
      }
    }
    const absl::StatusOr<std::vector<InputWeight>> weights = inputs_.Weights();
    if (!weights.ok()) return weights.status();
    for (const InputWeight& input : *weights) {
      PlanWeight(input);
    }
    return absl::OkStatus();
  }

  void PlanWeight(const InputWeight& input) {
    const Weight& weight = input.weight;
    const std::string& name = weight.tensor().name;
    const int64_t columns = BlockColumns(options_.column_blocks, weight);
    PackedWeight packed;
    packed.store = input.store;
    packed.weight = weight;
    packed.block_columns = columns;
    TensorSpec spec = {name, weight.dtype(), weight.shape()};
    if (packed.in_column_blocks()) {
      const int64_t panels = (weight.columns() + columns - 1) / columns;
      spec.shape = {panels, weight.rows(), columns};
      writer_options_.metadata[ColumnBlocksKey(name)] =
          ColumnBlocksText(weight.rows(), weight.columns(), columns);
    }
    total_bytes_ += *TensorBytes(spec.dtype, spec.shape);
    specs_.push_back(std::move(spec));
    weights_.push_back(std::move(packed));
  }

  absl::Status CopyBytes(const PackedWeight& packed,
                         SafetensorsWriter& writer) {
    const TensorInfo& tensor = packed.weight.tensor();
    for (int64_t done = 0; done < tensor.size_bytes;) {
      Tile tile;
      tile.offset_bytes = tensor.offset_bytes + done;
      tile.row_bytes =
          static_cast<int32_t>(std::min(kChunkBytes, tensor.size_bytes - done));
      tile.rows = 1;
      chunk_.resize(static_cast<size_t>(tile.row_bytes));
      absl::Status status = packed.store->Read(tile, &chunk_[0]);
      if (status.ok()) status = Append(writer);
      if (!status.ok()) return status;
      done += tile.row_bytes;
    }
    return absl::OkStatus();
  }

  absl::Status CopyColumnBlocks(const PackedWeight& packed,
                                SafetensorsWriter& writer) {
    const Weight& weight = packed.weight;
    const int64_t row_bytes = packed.block_columns * DTypeBytes(weight.dtype());
    const int64_t chunk_rows =
        std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, row_bytes));
    for (int64_t column = 0; column < weight.columns();
         column += packed.block_columns) {
      for (int64_t row = 0; row < weight.rows(); row += chunk_rows) {
        const int64_t rows = std::min(chunk_rows, weight.rows() - row);
        chunk_.assign(static_cast<size_t>(rows * row_bytes), '\0');
        absl::Status status = Gather(packed, row, rows, column);
        if (status.ok()) status = Append(writer);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // Reads the rows of one new panel into the chunk, from one old panel at a
  // time.
  absl::Status Gather(const PackedWeight& packed, int64_t row, int64_t rows,
                      int64_t column) {
    const Weight& weight = packed.weight;
    const int64_t element_bytes = DTypeBytes(weight.dtype());
    const int64_t row_bytes = packed.block_columns * element_bytes;
    const int64_t end =
        std::min(column + packed.block_columns, weight.columns());
    for (int64_t from = column; from < end;) {
      const int64_t old_end =
          (from / weight.block_columns() + 1) * weight.block_columns();
      const int64_t count = std::min(end, old_end) - from;
      const absl::StatusOr<Tile> tile = weight.Block(row, rows, from, count);
      if (!tile.ok()) return tile.status();
      piece_.resize(static_cast<size_t>(tile->size_bytes()));
      absl::Status read = packed.store->Read(*tile, &piece_[0]);
      if (!read.ok()) return read;
      char* to = &chunk_[0] + (from - column) * element_bytes;
      for (int64_t i = 0; i < rows; ++i) {
        memcpy(to + i * row_bytes, &piece_[0] + i * tile->row_bytes,
               static_cast<size_t>(tile->row_bytes));
      }
      from += count;
    }
    return absl::OkStatus();
  }

  absl::Status Append(SafetensorsWriter& writer) {
    done_bytes_ += static_cast<int64_t>(chunk_.size());
    absl::Status status =
        writer.Append(chunk_.data(), static_cast<int64_t>(chunk_.size()));
    if (status.ok() && options_.progress) {
      options_.progress(done_bytes_, total_bytes_);
    }
    return status;
  }

  const CheckpointInputs& inputs_;
  const PackOptions& options_;
  SafetensorsWriterOptions writer_options_;
  std::vector<TensorSpec> specs_;
  std::vector<PackedWeight> weights_;
  std::string chunk_;
  std::string piece_;
  int64_t done_bytes_ = 0;
  int64_t total_bytes_ = 0;
};

}  // namespace

absl::StatusOr<ColumnBlockRule> ParseColumnBlockRule(absl::string_view text) {
  const size_t equals = text.rfind('=');
  ColumnBlockRule rule;
  if (equals == absl::string_view::npos || equals == 0 ||
      !absl::SimpleAtoi(text.substr(equals + 1), &rule.block_columns) ||
      rule.block_columns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text,
                     "\" is not a rule; write PATTERN=COLUMNS, such as "
                     "\"*.output.dense.weight=256\""));
  }
  rule.pattern = std::string(text.substr(0, equals));
  return rule;
}

std::vector<ColumnBlockRule> DefaultColumnBlockRules() {
  return {
      {"*attention.output.dense.weight", 0, true},
      {"*layer.*.output.dense.weight", 256, true},    // BERT
      {"*layer.*.ffn.lin2.weight", 256, true},        // DistilBERT
      {"*layers.*.mlp.down_proj.weight", 256, true},  // Llama and after
      {"*layers.*.mlp.Wo.weight", 256, true},         // ModernBERT
      {"*layers.*.mlp.fc2.weight", 256, true},        // NomicBert
      {"*h.*.attn.c_attn.weight", 64, true},          // GPT-2, [in, out]
      {"*h.*.attn.c_proj.weight", 64, true},
      {"*h.*.mlp.c_fc.weight", 64, true},
      {"*h.*.mlp.c_proj.weight", 64, true},
  };
}

absl::Status Pack(absl::string_view input_path, absl::string_view output_path,
                  const PackOptions& options) {
  const absl::StatusOr<CheckpointInputs> inputs =
      CheckpointInputs::Open(input_path);
  if (!inputs.ok()) return inputs.status();
  absl::Status rules = CheckRulesMatch(options.column_blocks, *inputs);
  if (!rules.ok()) return rules;
  // A single file may be packed in place, but not one of several.
  if (absl::EndsWith(input_path, ".json")) {
    const absl::Status apart = inputs->CheckIsNone(output_path);
    if (!apart.ok()) return apart;
  }
  return Packer(*inputs, options).Run(output_path);
}

}  // namespace footprint
