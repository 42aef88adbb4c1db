// Tables of which a row is taken for each token.
//
//   footprint::ChunkedEmbedding words({119547, 1024}, /*chunk_rows=*/0);
//   AddChild("word_embeddings", &words);
//   ...
//   absl::StatusOr<footprint::PanelActivations> states = words.Run(ids);
//
// An EmbeddingModule leases all of its table. A ChunkedEmbedding leases
// `chunk_rows` of its rows at a time, of those chunks that are asked for, each
// once and in order; with 0 only the rows asked for, each once. The output's
// bits are the same.
//
// The caller owns the output. Thread-safe as module.h says: any number of Runs
// at once, once loaded. Memory: the output; an EmbeddingModule's table, a
// ChunkedEmbedding's chunk or row, and its order of the ids, 8 bytes each. A
// table that is kept (LazyLoadingOptions.skip_modules) is used where it is.
//
// InvalidArgument: an id that the table has no row for, a negative chunk_rows.
// Otherwise module.h's.

#ifndef FOOTPRINT_LOWMEM_MODULES_EMBEDDING_MODULES_H_
#define FOOTPRINT_LOWMEM_MODULES_EMBEDDING_MODULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/modules/module.h"
#include "footprint/lowmem/modules/panel_activations.h"

namespace footprint {

struct EmbeddingTable {
  int64_t rows = 0;
  int64_t features = 0;
};

// "Embedding": weight [rows, features].
class EmbeddingModule : public Module {
 public:
  explicit EmbeddingModule(const EmbeddingTable& table);

  absl::StatusOr<PanelActivations> Run(absl::Span<const int32_t> ids);

 private:
  const Parameter* const weight_;
};

// "ChunkedEmbedding": the same tensor.
class ChunkedEmbedding : public Module {
 public:
  // chunk_rows is at least 0; below, every Run says so.
  ChunkedEmbedding(const EmbeddingTable& table, int64_t chunk_rows);

  bool leases_rows() const override { return true; }

  absl::StatusOr<PanelActivations> Run(absl::Span<const int32_t> ids);

 private:
  const Parameter* const weight_;
  const int64_t chunk_rows_;
};

}  // namespace footprint

// Tested by lazy_loading_test.

#endif  // FOOTPRINT_LOWMEM_MODULES_EMBEDDING_MODULES_H_
