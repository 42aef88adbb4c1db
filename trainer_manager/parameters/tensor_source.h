// Finds the tensor of a weight file that holds a parameter, checks its values,
// and reads them.
//
//   auto source = footprint::FindTensorSource(file.index(), map, "fc.weight",
//                                             shape);
//   std::vector<float> buffer(footprint::kTensorBufferValues);
//   auto print =
//       CheckTensorValues(file, *source, "fc.weight", absl::MakeSpan(buffer));
//   if (print.ok()) {
//     status = ReadTensorValues(file, *source, absl::MakeSpan(buffer), values);
//   }
//
// A source refers to the file's index. The functions are thread-safe and
// allocate nothing unless they fail. `buffer` must not be empty; its content is
// lost. Time: that of reading.

#ifndef FOOTPRINT_TRAINER_MANAGER_PARAMETERS_TENSOR_SOURCE_H_
#define FOOTPRINT_TRAINER_MANAGER_PARAMETERS_TENSOR_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"

namespace footprint {

// The buffer's usual size, 64 KiB.
inline constexpr size_t kTensorBufferValues = 16 * 1024;

struct TensorSource {
  const TensorInfo* tensor = nullptr;
  // A matrix of [rows, columns] in the model is [columns, rows] in the file.
  bool transposed = false;
};

// Returns the name and layout that the map gives to a parameter in the file.
FileTensor FindFileTensor(const ParameterMap& map, absl::string_view parameter);

// Finds the file's tensor for a parameter. Returns InvalidArgument, with both
// names, if there is none, if it is not F32 of this shape, or if the map
// transposes something that is not a matrix.
absl::StatusOr<TensorSource> FindTensorSource(const SafetensorsIndex& index,
                                              const ParameterMap& map,
                                              absl::string_view parameter,
                                              const Shape& shape);

// Reads all values once. Returns their fingerprint in the layout of the file
// (//base/files:fingerprint), or InvalidArgument, with the place, if the
// parameter takes one of them not: NaN, infinity or a variance below 0. Other
// errors are those of WatchedFile::Read. The number of values in the buffer
// must be even, since the fingerprint depends on where parts begin otherwise.
absl::StatusOr<uint64_t> CheckTensorValues(const SafetensorsFile& file,
                                           const TensorSource& source,
                                           absl::string_view parameter,
                                           absl::Span<float> buffer);

// Reads the values in the layout of the model. Only a transposed matrix needs
// the buffer. Errors are those of WatchedFile::Read.
absl::Status ReadTensorValues(const SafetensorsFile& file,
                              const TensorSource& source,
                              absl::Span<float> buffer,
                              absl::Span<float> values);

// Reads `columns` columns of a matrix from `first_column` on, in the layout of
// the model, as a dense matrix. They must exist. If the matrix is transposed,
// they are one range of the file, and need the buffer; otherwise each row is a
// read of its own. Errors are those of WatchedFile::Read.
absl::Status ReadTensorColumns(const SafetensorsFile& file,
                               const TensorSource& source, int64_t first_column,
                               int64_t columns, absl::Span<float> buffer,
                               absl::Span<float> values);

// Reads one row of a matrix, in the layout of the model. The row must exist. If
// the matrix is transposed, each value is a read of its own. Errors are those
// of WatchedFile::Read.
absl::Status ReadTensorRow(const SafetensorsFile& file,
                           const TensorSource& source, int64_t row,
                           absl::Span<float> values);

}  // namespace footprint

// Tested by parameter_file_test, parameter_map_test and
// //trainer_manager/runtime:weight_reader_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_PARAMETERS_TENSOR_SOURCE_H_
