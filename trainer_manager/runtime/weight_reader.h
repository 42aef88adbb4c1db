// Reads the frozen weights of a plan from their file, each time that a step
// needs them.
//
//   auto reader = footprint::WeightReader::Open(plan, "base.safetensors", map);
//   // The first two operands of the plan's steps that read weights:
//   status = (*reader)->Read(/*first=*/0, slots.subspan(0, 2));
//
// The operands of all steps that read weights are numbered in their order. A
// table of which a step reads rows counts as one operand of that step. If the
// next step runs by tiles (TileColumns), the operand is the first tile, and
// that step reads the others.
//
// Reads go through the system's page cache, by pread. Within a limit on memory
// the system drops these pages when it needs room, so they make no run fail; a
// file in the cache is read at the speed of memory. A file that is written to,
// replaced or removed is an error of the next read. Saving with SaveParameters
// replaces the file, so save elsewhere.
//
// Owns the open file. Thread-compatible. Reading allocates nothing unless it
// fails. Memory: the file's index, 4 bytes for each operand, 8 for each step
// that runs by tiles, and 64 KiB if a matrix is transposed. Open reads all
// weights once, to refuse NaN and infinity.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_WEIGHT_READER_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_WEIGHT_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/tensor_source.h"

namespace footprint {

class WeightReader {
 public:
  // Opens the file and finds each weight that a step of the plan reads. `map`
  // has the file's names and layouts; it may have others, and so may the file.
  // Returns InvalidArgument if the file has the bias of a layer that the
  // network makes without one. Other errors are those of SafetensorsFile::Open,
  // FindTensorSource and CheckTensorValues, which name the file.
  static absl::StatusOr<std::unique_ptr<WeightReader>> Open(
      const ExecutionPlan& plan, const std::string& path,
      const ParameterMap& map);

  // Returns a hash of the weights that the plan reads and of their names. It
  // differs between layouts of a file, but not between budgets.
  uint64_t fingerprint() const { return fingerprint_; }

  // Writes the weights of a step to its slots. `first` is the number of
  // operands that earlier steps of the plan read. Returns FailedPrecondition if
  // the file has changed. Other errors are those of FileError
  // (//base/files:file_error).
  absl::Status Read(size_t first, absl::Span<const StepData::Slot> slots);

  // Returns the number of the operand of which step `step` of the plan reads
  // the second and later tiles, or nothing if the step does not run by tiles.
  absl::optional<size_t> FindTiles(size_t step) const;

  // Writes a tile of operand `number`, a matrix, to `values`. Errors are those
  // of Read.
  absl::Status ReadTile(size_t number, const MatrixTile& tile, float* values);

  // Writes to the output the rows of table `number` whose indices are input 0.
  // Returns OutOfRange (RefuseRow) if the table has no such row. Other errors
  // are those of Read.
  absl::Status ReadRows(size_t number, const StepData& data);

 private:
  explicit WeightReader(SafetensorsFile file) : file_(std::move(file)) {}

  const SafetensorsFile file_;
  std::vector<TensorSource> sources_;
  std::vector<uint32_t> source_of_;  // for each operand
  // The steps that run by tiles, in their order, each with its operand.
  std::vector<std::pair<uint32_t, uint32_t>> tiled_steps_;
  std::vector<float> buffer_;  // empty unless a source is transposed
  uint64_t fingerprint_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_WEIGHT_READER_H_
