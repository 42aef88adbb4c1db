// The example of README.md: the largest value of one matrix, a tile at a time.
//
//   stream_weights_example model.safetensors TENSOR

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/tile_stream.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace {

// region stream
// The largest value of a float32 matrix, with two tiles of 64 rows in memory.
absl::Status PrintLargest(const char* path, const char* name) {
  auto store =
      footprint::WeightStore::Open(path, footprint::WeightBackend::kDirect);
  if (!store.ok()) return store.status();
  const auto weight = (*store)->Find(name);
  if (!weight.ok()) return weight.status();
  std::vector<footprint::Tile> schedule;
  for (int64_t row = 0; row < weight->rows(); row += 64) {
    const auto tile =
        weight->Rows(row, std::min<int64_t>(64, weight->rows() - row));
    if (!tile.ok()) return tile.status();
    schedule.push_back(*tile);
  }
  footprint::TileStreamOptions options;
  options.depth = 2;
  const int64_t arena_bytes =
      footprint::TileStream::ArenaBytes(**store, schedule, options.depth);
  const auto arena = footprint::MappedBlock::Allocate(arena_bytes);
  if (!arena.ok()) return arena.status();
  auto stream = footprint::TileStream::Open(
      store->get(), schedule, options,
      absl::MakeSpan(arena->At<char>(0), arena_bytes));
  if (!stream.ok()) return stream.status();
  float largest = -INFINITY;
  for (const footprint::Tile& tile : schedule) {
    const auto lease = (*stream)->Next();
    if (!lease.ok()) return lease.status();
    const float* values = static_cast<const float*>(lease->data());
    for (int64_t i = 0; i < tile.size_bytes() / 4; ++i) {
      largest = std::max(largest, values[i]);
    }
  }
  std::cout << largest << " by " << (*stream)->Description() << "\n";
  return (*store)->CheckFile();
}
// endregion

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: stream_weights_example FILE TENSOR\n";
    return 2;
  }
  const absl::Status status = PrintLargest(argv[1], argv[2]);
  if (status.ok()) {
    return footprint::FinishStandardOutput("stream_weights_example");
  }
  std::cerr << status << "\n";
  return 1;
}
