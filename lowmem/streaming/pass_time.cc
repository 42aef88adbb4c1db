#include "footprint/lowmem/streaming/pass_time.h"

#include <algorithm>

#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

// The rows whose sums a kernel holds in registers, and the number of rows that
// it could multiply in the time of loading their input.
constexpr int64_t kRegisterRows = 12;
constexpr double kInputRows = 2.1;
// A weight times a panel of tokens.
constexpr double kMultiplyAddSeconds = 0.36e-9;
// A stored byte of weights: read from memory, or from the cache after a copy.
// Beside the products of many tokens most of the time to read from memory is
// hidden.
constexpr double kReadSeconds = 0.075e-9;
constexpr double kReadCopySeconds = 0.025e-9;
constexpr double kReadBesideProductsSeconds = 0.055e-9;
// A byte copied from the page cache into a slot.
constexpr double kCopySeconds = 0.095e-9;
// A byte from a disk, and the latency of a request.
constexpr double kDiskSeconds = 1e-9;
constexpr double kDiskWaitSeconds = 100e-6;
// The call that reads a run. Then the other costs of a tile that is read, and
// those of a tile that is used in place.
constexpr double kReadSecondsOfRun = 0.5e-6;
constexpr double kSecondsOfReadTile = 0.65e-6;
constexpr double kSecondsOfTileInPlace = 0.2e-6;
constexpr double kStepSeconds = 3e-6;

bool IsCopied(WeightBackend backend) {
  return backend == WeightBackend::kPread || backend == WeightBackend::kDirect;
}

double ProductSeconds(const TileWork& work, const PassShape& shape,
                      double copied_share) {
  if (shape.single_token) {
    return static_cast<double>(work.stored_bytes) *
           (copied_share * kReadCopySeconds +
            (1 - copied_share) * kReadSeconds);
  }
  const double rows_in_registers =
      1 + kInputRows / static_cast<double>(kRegisterRows);
  return (1 - copied_share) * kReadBesideProductsSeconds *
             static_cast<double>(work.stored_bytes) +
         kMultiplyAddSeconds *
             (static_cast<double>(shape.panels) *
                  (static_cast<double>(work.weights) +
                   kInputRows * static_cast<double>(work.register_columns)) +
              rows_in_registers *
                  static_cast<double>(shape.panel_multiply_adds));
}

}  // namespace

void TileWork::Add(const Tile& tile, int64_t outputs, int64_t inputs) {
  ++tiles;
  runs += tile.contiguous() ? 1 : tile.rows;
  stored_bytes += tile.size_bytes();
  weights += outputs * inputs;
  register_columns += (outputs + kRegisterRows - 1) / kRegisterRows * inputs;
}

double PredictPassSeconds(const TileWork& work, const PassShape& shape) {
  const double copied_share =
      IsCopied(shape.backend) ? 1 - shape.pinned_share : 0.0;
  const double copied_tiles = copied_share * static_cast<double>(work.tiles);
  const double copied_runs = copied_share * static_cast<double>(work.runs);
  const double copied_bytes =
      copied_share * static_cast<double>(work.stored_bytes);
  const double others =
      ProductSeconds(work, shape, copied_share) +
      kSecondsOfTileInPlace * (static_cast<double>(work.tiles) - copied_tiles) +
      kSecondsOfReadTile * copied_tiles + kReadSecondsOfRun * copied_runs +
      kStepSeconds * static_cast<double>(shape.steps);
  if (shape.backend != WeightBackend::kDirect) {
    return others + kCopySeconds * copied_bytes;
  }
  // Both ends of a run are rounded to whole pages.
  const double read_bytes =
      copied_bytes + static_cast<double>(kPageBytes) * copied_runs;
  const double disk = kDiskSeconds * read_bytes * shape.workers +
                      kDiskWaitSeconds * copied_tiles / shape.depth;
  return shape.depth > 1 ? std::max(others, disk) : others + disk;
}

}  // namespace footprint
