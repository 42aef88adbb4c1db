// Rewrites a safetensors file so that what is read together lies together, each
// tensor at a page.
//
//   footprint::PackOptions options;
//   options.column_blocks = footprint::DefaultColumnBlockRules();
//   absl::Status status = footprint::Pack("model.safetensors",
//                                         "packed.safetensors", options);
//
// Tensors begin at multiples of 4 KiB, so direct reads take no page twice. A
// matrix that a rule names is stored in column panels (see column_blocks.h): a
// block of a panel's columns and any rows is one run of bytes, a tile in
// tile-major order. The rest keeps its order. The values are the same bits;
// WeightStore shows a packed file as the file it was made of. Packing a packed
// file changes its panels, and with no rules takes them away.
//
// An input that ends in ".json" is the index of a checkpoint in several files
// (model.safetensors.index.json): the output holds the tensors of all of them,
// one that several have from the file that the index names.
//
// Input and output may be the same path. Atomic (see AtomicFile). `progress` is
// called by the thread that calls Pack, which keeps nothing. Thread-safe: of
// two writers of one output the second is refused. Memory: 288 KiB and the
// headers. Time: one pass through the file.
//
// Errors: those of SafetensorsIndex for the input, of AtomicFile for the
// output, of ReadShardIndex. InvalidArgument: a rule that no matrix matches; a
// tensor that the index names and its file does not have, or that several files
// have and the index does not name.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_PACK_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_PACK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// The first rule whose pattern matches a tensor's name counts. In a pattern, *
// stands for any characters, as in a shell. With 0 columns the matrix stays as
// it is, whatever later rules say. A tensor that is no matrix always stays.
struct ColumnBlockRule {
  std::string pattern;
  int64_t block_columns = 0;
  // A rule that matches no matrix is a mistake, unless it is meant for other
  // models as well.
  bool optional = false;
};

// "PATTERN=COLUMNS".
absl::StatusOr<ColumnBlockRule> ParseColumnBlockRule(absl::string_view text);

// Returns the rules for BERT, DistilBERT, Llama and what came after it, the
// matrices of which a forward pass that goes through the intermediate features
// in chunks wants columns, and
// for GPT-2, all matrices of layers, which lie transposed. Every rule is
// optional.
std::vector<ColumnBlockRule> DefaultColumnBlockRules();

struct PackOptions {
  std::vector<ColumnBlockRule> column_blocks;
  // Called now and then with the bytes written and to be written.
  std::function<void(int64_t, int64_t)> progress;
};

absl::Status Pack(absl::string_view input_path, absl::string_view output_path,
                  const PackOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_PACK_H_
