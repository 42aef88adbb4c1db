#include "footprint/lowmem/modules/embedding_modules.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

absl::Status CheckRows(absl::Span<const int32_t> ids, int64_t rows) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < rows) continue;
    return absl::InvalidArgumentError(absl::StrCat("token ", i, " has the id ",
                                                   ids[i], "; the table has ",
                                                   rows, " rows"));
  }
  return absl::OkStatus();
}

void SetToken(const float* row, int64_t token, PanelActivations* output) {
  for (int64_t i = 0; i < output->features(); ++i)
    output->At(token, i) = row[i];
}

// Returns the tokens' indices, ordered by id.
std::vector<int64_t> SortIndices(absl::Span<const int32_t> ids) {
  std::vector<int64_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return ids[a] < ids[b]; });
  return order;
}

}  // namespace

EmbeddingModule::EmbeddingModule(const EmbeddingTable& table)
    : Module("Embedding"),
      weight_(AddParameter("weight", {table.rows, table.features})) {}

absl::StatusOr<PanelActivations> EmbeddingModule::Run(
    absl::Span<const int32_t> ids) {
  const absl::Status status = CheckRows(ids, weight_->rows());
  if (!status.ok()) return status;
  const absl::StatusOr<ModuleLease> lease = Lease();
  if (!lease.ok()) return lease.status();
  const int64_t features = weight_->columns();
  PanelActivations output(static_cast<int64_t>(ids.size()), features);
  for (size_t i = 0; i < ids.size(); ++i) {
    SetToken(weight_->data() + ids[i] * features, i, &output);
  }
  return output;
}

ChunkedEmbedding::ChunkedEmbedding(const EmbeddingTable& table,
                                   int64_t chunk_rows)
    : Module("ChunkedEmbedding"),
      weight_(AddParameter("weight", {table.rows, table.features})),
      // A single row is a chunk of one row.
      chunk_rows_(chunk_rows == 0 ? 1 : chunk_rows) {}

absl::StatusOr<PanelActivations> ChunkedEmbedding::Run(
    absl::Span<const int32_t> ids) {
  if (chunk_rows_ < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk_rows is ", chunk_rows_,
                     "; 0 holds only the rows asked for, n that many rows"));
  }
  const absl::Status status = CheckRows(ids, weight_->rows());
  if (!status.ok()) return status;
  const int64_t features = weight_->columns();
  PanelActivations output(static_cast<int64_t>(ids.size()), features);
  RowsLease chunk;
  int64_t begin = 0;
  int64_t end = 0;
  for (const int64_t token : SortIndices(ids)) {
    const int64_t row = ids[token];
    if (row >= end) {
      begin = row / chunk_rows_ * chunk_rows_;
      end = std::min(weight_->rows(), begin + chunk_rows_);
      chunk.reset();  // before the next lease: one chunk at a time
      absl::StatusOr<RowsLease> next = LeaseRows(*weight_, begin, end - begin);
      if (!next.ok()) return next.status();
      chunk = *std::move(next);
    }
    SetToken(chunk.get() + (row - begin) * features, token, &output);
  }
  return output;
}

}  // namespace footprint
