#include "footprint/trainer_manager/parameter_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/lowmem/read_at.h"
#include "footprint/lowmem/safetensors.h"
#include "footprint/lowmem/safetensors_writer.h"

namespace footprint {
namespace {

TensorShape FileShape(const Shape& shape) {
  TensorShape extents;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    extents.push_back(shape.extent(axis));
  }
  return extents;
}

int64_t BytesOf(const Parameters::Parameter& parameter) {
  return static_cast<int64_t>(parameter.values.size() * sizeof(float));
}

// The tensors of the file, in the order of the model's parameters.
absl::StatusOr<std::vector<const TensorInfo*>> Match(
    const SafetensorsIndex& index, const Parameters& parameters) {
  std::vector<const TensorInfo*> tensors;
  for (const Parameters::Parameter& parameter : parameters.all()) {
    const absl::StatusOr<const TensorInfo*> tensor = index.Find(parameter.name);
    if (!tensor.ok()) {
      return absl::InvalidArgumentError(tensor.status().message());
    }
    if ((*tensor)->dtype != DType::kF32 ||
        (*tensor)->shape != FileShape(parameter.shape)) {
      return absl::InvalidArgumentError(absl::StrCat(
          index.file_name(), ": tensor \"", parameter.name, "\" is ",
          DTypeName((*tensor)->dtype), " ", ShapeText((*tensor)->shape),
          ", but the model has F32 ", parameter.shape.ToString()));
    }
    tensors.push_back(*tensor);
  }
  for (const TensorInfo& tensor : index.tensors()) {
    if (!parameters.Find(tensor.name).ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(index.file_name(), ": tensor \"", tensor.name,
                       "\" is no parameter of the model"));
    }
  }
  return tensors;
}

absl::Status ReadValues(int descriptor, const TensorInfo& tensor,
                        absl::Span<float> values, const std::string& file) {
  const int64_t got = lowmem_internal::ReadAt(descriptor, tensor.offset_bytes,
                                              tensor.size_bytes, values.data());
  if (got == tensor.size_bytes) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(file, ": cannot read ", tensor.size_bytes, " bytes at byte ",
                   tensor.offset_bytes, ": ",
                   got < 0 ? strerror(errno) : "the file ends before"));
}

}  // namespace

absl::Status SaveParameters(const Parameters& parameters,
                            absl::string_view path) {
  std::vector<TensorSpec> tensors;
  for (const Parameters::Parameter& parameter : parameters.all()) {
    tensors.push_back(
        {std::string(parameter.name), DType::kF32, FileShape(parameter.shape)});
  }
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::Create(path, tensors);
  if (!writer.ok()) return writer.status();
  for (const Parameters::Parameter& parameter : parameters.all()) {
    const absl::Status status =
        writer->Append(parameter.values.data(), BytesOf(parameter));
    if (!status.ok()) return status;
  }
  return writer->Finish();
}

absl::Status LoadParameters(absl::string_view path, Parameters* parameters) {
  const std::string file(path);
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const std::string text = absl::StrCat(file, ": ", strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(text)
                           : absl::UnavailableError(text);
  }
  const auto closer = absl::MakeCleanup([descriptor] { close(descriptor); });
  const absl::StatusOr<SafetensorsIndex> index =
      SafetensorsIndex::Read(descriptor, file);
  if (!index.ok()) return index.status();
  const auto tensors = Match(*index, *parameters);
  if (!tensors.ok()) return tensors.status();
  for (size_t i = 0; i < tensors->size(); ++i) {
    const absl::Status status = ReadValues(descriptor, *(*tensors)[i],
                                           parameters->all()[i].values, file);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace footprint
