// The common part of the runs of all model families: memory with some tensors
// pinned, tiles that are read ahead, small vectors read by several workers,
// checks of ids, and the time of each step.
//
//   absl::StatusOr<RunMemory> memory =
//       TakeRunMemory(plan.peak_bytes, plan.pinned, TensorsToPin(weights),
//                     store);
//   StepTimes times(config.layers + 1);
//   times.Begin();
//   RunLayer(0);
//   times.Record(0);
//
// The store must outlive the memory. A StepTimes belongs to one thread; the
// functions may be called from any thread. Memory: the arena, and 8 bytes a
// step.
//
// The error is ResourceExhausted if there is no memory for the arena. The error
// is InvalidArgument if there are no ids, or an id that the vocabulary does not
// have. Other errors are the store's.

#ifndef FOOTPRINT_LOWMEM_STREAMING_MODEL_RUN_H_
#define FOOTPRINT_LOWMEM_STREAMING_MODEL_RUN_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/streaming/arena_layout.h"
#include "footprint/lowmem/streaming/plan_growth.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/weights/pinned_store.h"
#include "footprint/lowmem/weights/tile_stream.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

struct RunMemory {
  MappedBlock arena;
  // Keeps the pinned tensors in the arena; null if nothing is pinned.
  std::unique_ptr<PinnedStore> pinned;
};

// Allocates the arena and reads the pinned tensors. `tensors` must have the
// order in which the plan chose from them.
absl::StatusOr<RunMemory> TakeRunMemory(int64_t peak_bytes,
                                        const PinnedTensors& pinned,
                                        absl::Span<const Weight> tensors,
                                        WeightStore* store);

// Opens a stream that reads the list's tiles ahead, over and over, in a ring of
// `depth` slots. Returns null if the list is empty. Returns Internal if the
// list is not complete, and otherwise the errors of TileStream::Open.
absl::StatusOr<std::unique_ptr<TileStream>> OpenRing(WeightStore* store,
                                                     const TileList& list,
                                                     int depth,
                                                     absl::Span<char> ring);

// A vector in the file, and the memory that it is read into.
struct VectorLoad {
  const Weight* weight = nullptr;
  float* destination = nullptr;
  float added = 0;  // is added to each number
};

// Reads this worker's share of the vectors.
absl::Status ReadVectors(absl::Span<const VectorLoad> loads, int worker,
                         int workers, WeightStore* store);

// Returns InvalidArgument unless there are ids and the vocabulary has all of
// them.
absl::Status CheckIds(absl::Span<const int32_t> ids, int64_t vocabulary);

// Returns the error for a plan that was made for another model, file or
// backend.
absl::Status ForeignPlan(const WeightStore& store);

// Returns DataLoss: `where`, such as "layer 3", gave numbers that are not
// finite.
absl::Status NotFinite(const WeightStore& store, absl::string_view where);

// Returns a pass's error. If its numbers are not finite and the file has
// changed, returns the file's error, which is the cause.
absl::Status PassFault(const WeightStore& store, const absl::Status& status);

// Returns Unavailable if fewer workers were started than planned.
absl::Status CheckWorkers(int started, int planned);

class StepTimes {
 public:
  explicit StepTimes(int64_t steps) : nanoseconds_(steps) {}

  void Clear() { nanoseconds_.assign(nanoseconds_.size(), 0); }
  void Begin() { last_ = std::chrono::steady_clock::now(); }
  // Adds the time since Begin or the last Record to that of the step.
  void Record(int64_t step);
  absl::Span<const int64_t> nanoseconds() const { return nanoseconds_; }

 private:
  std::vector<int64_t> nanoseconds_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_STREAMING_MODEL_RUN_H_
