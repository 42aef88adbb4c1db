// Rewrites a safetensors file so that bytes that are read together lie together
// and each tensor begins at a page.
//
//   footprint::PackOptions options;
//   options.column_blocks = footprint::DefaultColumnBlockRules();
//   absl::Status status = footprint::Pack("model.safetensors",
//                                         "packed.safetensors", options);
//
// Tensors begin at multiples of 4 KiB, so direct reads fetch no page twice. A
// matrix that a rule names is stored in column panels (see column_blocks.h):
// any rows of a panel's columns are one run of bytes, and so a tile in
// tile-major order. The order is otherwise unchanged, and the values keep their
// bits. WeightStore shows a packed file like the original. Packing a packed
// file changes its panels; without rules it removes them.
//
// An input that ends in ".json" is the index of a checkpoint in several files
// (model.safetensors.index.json). The output holds the tensors of all of them.
// A tensor that several files have is taken from the file that the index names.
//
// A single input and the output may be the same path; the output must not be
// one of several inputs. The output is atomic (see AtomicFile). Pack calls
// `progress` on the thread of the caller and keeps nothing. Thread-safe; if two
// threads write one output, the second is refused. Memory: 288 KiB, another 256
// KiB for column panels, and the headers. Time: one pass through the file.
//
// Errors: those of SafetensorsIndex for the input, of AtomicFile for the
// output, and of ReadShardIndex. The error is InvalidArgument if a rule matches
// no matrix, if the input is GGUF, if the output is the index or one of its
// files, if the index names a tensor that its file does not have, or if several
// files have a tensor that the index does not name.

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
// stands for any characters, as in a shell. With 0 columns the matrix gets no
// panels, whatever later rules say. A tensor that is not a matrix never has
// panels.
struct ColumnBlockRule {
  std::string pattern;
  int64_t block_columns = 0;
  // A rule that matches no matrix is an error, unless it is optional because it
  // is meant for other models.
  bool optional = false;
};

// Parses "PATTERN=COLUMNS". Returns InvalidArgument for another text, or if the
// columns are negative.
absl::StatusOr<ColumnBlockRule> ParseColumnBlockRule(absl::string_view text);

// Returns rules that are all optional. For BERT, DistilBERT, and Llama and
// later families they name the matrices of which a forward pass reads columns,
// because it goes through the intermediate features in chunks. For GPT-2, whose
// matrices are transposed, they name all matrices of layers.
std::vector<ColumnBlockRule> DefaultColumnBlockRules();

struct PackOptions {
  std::vector<ColumnBlockRule> column_blocks;
  // Called now and then with the bytes written so far and in total.
  std::function<void(int64_t, int64_t)> progress;
};

absl::Status Pack(absl::string_view input_path, absl::string_view output_path,
                  const PackOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_PACK_H_
