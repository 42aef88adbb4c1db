#include "footprint/trainer_manager/parameters/tensor_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {
namespace {

Shape Transposed(const Shape& matrix) {
  return {matrix.extent(1), matrix.extent(0)};
}

// Reads the tensor's values from index `first` on.
absl::Status ReadPart(const SafetensorsFile& file, const TensorInfo& tensor,
                      size_t first, absl::Span<float> values) {
  return file.Read(
      tensor.offset_bytes + static_cast<int64_t>(first * sizeof(float)),
      static_cast<int64_t>(values.size() * sizeof(float)), values.data());
}

// Reads `count` of the tensor's values from index `begin` on into the buffer,
// part by part, and calls `take(first, part)` for each part, whose first value
// is `first` places after `begin`.
template <typename Take>
absl::Status ReadByParts(const SafetensorsFile& file, const TensorInfo& tensor,
                         size_t begin, size_t count, absl::Span<float> buffer,
                         const Take& take) {
  for (size_t first = 0; first < count; first += buffer.size()) {
    const auto part = buffer.subspan(0, std::min(buffer.size(), count - first));
    absl::Status status = ReadPart(file, tensor, begin + first, part);
    if (status.ok()) status = take(first, part);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Transposes whole rows of a matrix of the file, the first of which is
// `first_row` of `rows`. By tiles, each cache line of `values` is written once.
void TransposeRows(absl::Span<const float> part, size_t columns,
                   size_t first_row, size_t rows, absl::Span<float> values) {
  constexpr size_t kTile = 16;
  float tile[kTile][kTile];
  const size_t part_rows = part.size() / columns;
  for (size_t r0 = 0; r0 < part_rows; r0 += kTile) {
    const size_t tile_rows = std::min(kTile, part_rows - r0);
    for (size_t c0 = 0; c0 < columns; c0 += kTile) {
      const size_t tile_columns = std::min(kTile, columns - c0);
      for (size_t r = 0; r < tile_rows; ++r) {
        for (size_t c = 0; c < tile_columns; ++c) {
          tile[c][r] = part[(r0 + r) * columns + c0 + c];
        }
      }
      for (size_t c = 0; c < tile_columns; ++c) {
        std::copy_n(tile[c], tile_rows,
                    &values[(c0 + c) * rows + first_row + r0]);
      }
    }
  }
}

// Reads `rows` rows of a matrix of the file from `first_row` on, and writes
// their transpose to `values`.
absl::Status ReadTransposed(const SafetensorsFile& file,
                            const TensorInfo& tensor, size_t first_row,
                            size_t rows, absl::Span<float> buffer,
                            absl::Span<float> values) {
  const auto columns = static_cast<size_t>(tensor.shape.columns());
  const size_t begin = first_row * columns;
  if (columns <= buffer.size()) {
    const auto whole_rows =
        buffer.subspan(0, buffer.size() / columns * columns);
    return ReadByParts(file, tensor, begin, rows * columns, whole_rows,
                       [&](size_t first, absl::Span<const float> part) {
                         TransposeRows(part, columns, first / columns, rows,
                                       values);
                         return absl::OkStatus();
                       });
  }
  return ReadByParts(file, tensor, begin, rows * columns, buffer,
                     [&](size_t first, absl::Span<const float> part) {
                       for (size_t i = 0; i < part.size(); ++i) {
                         const size_t row = (first + i) / columns;
                         values[(first + i) % columns * rows + row] = part[i];
                       }
                       return absl::OkStatus();
                     });
}

}  // namespace

FileTensor FindFileTensor(const ParameterMap& map,
                          absl::string_view parameter) {
  const auto found = map.tensors.find(std::string(parameter));
  if (found != map.tensors.end()) return found->second;
  FileTensor same;
  same.name = std::string(parameter);
  return same;
}

absl::StatusOr<TensorSource> FindTensorSource(const SafetensorsIndex& index,
                                              const ParameterMap& map,
                                              absl::string_view parameter,
                                              const Shape& shape) {
  const FileTensor in_file = FindFileTensor(map, parameter);
  if (in_file.transposed && shape.rank() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter \"", parameter, "\" is of shape ",
                     shape.ToString(), "; only a matrix can be transposed"));
  }
  const absl::StatusOr<const TensorInfo*> tensor = index.Find(in_file.name);
  if (!tensor.ok()) {
    return absl::InvalidArgumentError(tensor.status().message());
  }
  const Shape expected = in_file.transposed ? Transposed(shape) : shape;
  if ((*tensor)->dtype == DType::kF32 && (*tensor)->shape == expected) {
    return TensorSource{*tensor, in_file.transposed};
  }
  const bool fits_transposed =
      expected.rank() == 2 && (*tensor)->shape == Transposed(expected);
  return absl::InvalidArgumentError(absl::StrCat(
      index.file_name(), ": tensor \"", in_file.name, "\" is ",
      DTypeName((*tensor)->dtype), " ", (*tensor)->shape.ToString(),
      ", but the model has F32 ", expected.ToString(),
      fits_transposed ? "; transposed it would fit: see ParameterMap" : ""));
}

absl::StatusOr<uint64_t> CheckTensorValues(const SafetensorsFile& file,
                                           const TensorSource& source,
                                           absl::string_view parameter,
                                           absl::Span<float> buffer) {
  uint64_t print = kFingerprintOfNothing;
  const absl::Status status = ReadByParts(
      file, *source.tensor, 0,
      static_cast<size_t>(source.tensor->shape.elements()), buffer,
      [&](size_t first, absl::Span<const float> part) -> absl::Status {
        print = Fingerprint(part.data(),
                            static_cast<int64_t>(part.size() * sizeof(float)),
                            print);
        const int64_t place = FirstRefused(parameter, part);
        if (place < 0) return absl::OkStatus();
        return absl::InvalidArgumentError(absl::StrCat(
            file.name(), ": tensor \"", source.tensor->name, "\" is ",
            part[static_cast<size_t>(place)], " at index ",
            first + static_cast<size_t>(place),
            "; no parameter takes NaN or infinity, no variance less than 0"));
      });
  if (!status.ok()) return status;
  return print;
}

absl::Status ReadTensorValues(const SafetensorsFile& file,
                              const TensorSource& source,
                              absl::Span<float> buffer,
                              absl::Span<float> values) {
  if (!source.transposed) return ReadPart(file, *source.tensor, 0, values);
  const auto rows = static_cast<size_t>(source.tensor->shape.rows());
  return ReadTransposed(file, *source.tensor, 0, rows, buffer, values);
}

absl::Status ReadTensorColumns(const SafetensorsFile& file,
                               const TensorSource& source, int64_t first_column,
                               int64_t columns, absl::Span<float> buffer,
                               absl::Span<float> values) {
  const Shape& in_file = source.tensor->shape;
  const auto first = static_cast<size_t>(first_column);
  const auto count = static_cast<size_t>(columns);
  if (source.transposed) {
    return ReadTransposed(file, *source.tensor, first, count, buffer, values);
  }
  const auto all_columns = static_cast<size_t>(in_file.columns());
  for (size_t r = 0; r < static_cast<size_t>(in_file.rows()); ++r) {
    const absl::Status status =
        ReadPart(file, *source.tensor, r * all_columns + first,
                 values.subspan(r * count, count));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadTensorRow(const SafetensorsFile& file,
                           const TensorSource& source, int64_t row,
                           absl::Span<float> values) {
  const auto r = static_cast<size_t>(row);
  if (!source.transposed) {
    return ReadPart(file, *source.tensor, r * values.size(), values);
  }
  const auto rows = static_cast<size_t>(source.tensor->shape.columns());
  for (size_t c = 0; c < values.size(); ++c) {
    const absl::Status status =
        ReadPart(file, *source.tensor, c * rows + r, values.subspan(c, 1));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace footprint
