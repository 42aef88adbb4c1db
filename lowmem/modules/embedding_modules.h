// Modules that look up a row of a table for each token.
//
//   footprint::ChunkedEmbedding words({119547, 1024}, /*chunk_rows=*/0);
//   AddChild("word_embeddings", &words);
//   ...
//   absl::StatusOr<footprint::PanelActivations> states = words.Run(ids);
//
// An EmbeddingModule leases its whole table. A ChunkedEmbedding leases
// `chunk_rows` rows at a time, and only the chunks that the ids need, each once
// and in order; with 0 it leases only the rows that the ids need, each once.
// The output's bits are the same.
//
// The caller owns the output. Thread-safe as in module.h: after loading, any
// number of Runs may run at once. Memory: the output; the table of an
// EmbeddingModule; a chunk or row of a ChunkedEmbedding, and 8 bytes an id to
// sort the ids. A table that stays in memory (LazyLoadingOptions.skip_modules)
// is used in place.
//
// The error is InvalidArgument if the table has no row for an id, or if
// chunk_rows is negative. Other errors are those of module.h.

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

// Class "Embedding" with the parameter weight [rows, features]. Run returns row
// ids[i] as token i.
class EmbeddingModule : public Module {
 public:
  explicit EmbeddingModule(const EmbeddingTable& table);

  absl::StatusOr<PanelActivations> Run(absl::Span<const int32_t> ids);

 private:
  const Parameter* const weight_;
};

// Class "ChunkedEmbedding" with the same parameter.
class ChunkedEmbedding : public Module {
 public:
  // chunk_rows must be at least 0; otherwise every Run fails.
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
