#include "footprint/gates/deployments/tabular/estimators/model_file.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {
namespace tabular {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "numbers are stored as a little-endian processor holds them");

constexpr char kTensorName[] = "parameters";
constexpr char kEstimator[] = "estimator";
constexpr char kFeatureCount[] = "feature_count";
constexpr char kFingerprint[] = "fingerprint";

int64_t ParameterBytes(const Model& model) {
  return static_cast<int64_t>(model.parameters.size() * sizeof(double));
}

std::string FingerprintText(const Model& model) {
  const std::string facts =
      absl::StrCat(model.estimator, " ", model.feature_count);
  const uint64_t of_facts =
      Fingerprint(facts.data(), static_cast<int64_t>(facts.size()));
  return absl::StrCat(absl::Hex(
      Fingerprint(model.parameters.data(), ParameterBytes(model), of_facts)));
}

absl::Status NoModelError(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": is no model; name a file that was saved by --model"));
}

// Returns the metadata of a key, or "".
std::string Metadata(const SafetensorsIndex& index, const char* key) {
  const auto found = index.metadata().find(key);
  return found == index.metadata().end() ? "" : found->second;
}

}  // namespace

absl::Status SaveModel(const Model& model, const std::string& path) {
  SafetensorsWriterOptions options;
  options.to_disk = ToDisk::kNoFsync;
  options.metadata[kEstimator] = model.estimator;
  options.metadata[kFeatureCount] = absl::StrCat(model.feature_count);
  options.metadata[kFingerprint] = FingerprintText(model);
  absl::StatusOr<SafetensorsWriter> file = SafetensorsWriter::Create(
      path,
      {{kTensorName,
        DType::kF64,
        {static_cast<int64_t>(model.parameters.size())}}},
      options);
  if (!file.ok()) return file.status();
  const absl::Status status =
      file->Append(model.parameters.data(), ParameterBytes(model));
  return status.ok() ? file->Finish() : status;
}

absl::StatusOr<Model> LoadModel(const std::string& path,
                                absl::string_view estimator) {
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  const SafetensorsIndex& index = file->index();
  const TensorInfo* const tensor = index.FindOrNull(kTensorName);
  Model model;
  model.estimator = Metadata(index, kEstimator);
  if (tensor == nullptr || tensor->dtype != DType::kF64 ||
      !absl::SimpleAtoi(Metadata(index, kFeatureCount), &model.feature_count)) {
    return NoModelError(path);
  }
  if (model.estimator != estimator) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is a model of \"", model.estimator, "\", not of \"", estimator,
        "\"; load it with that program"));
  }
  model.parameters.resize(static_cast<size_t>(tensor->size_bytes) /
                          sizeof(double));
  const absl::Status status = file->Read(
      tensor->offset_bytes, ParameterBytes(model), model.parameters.data());
  if (!status.ok()) return status;
  if (Metadata(index, kFingerprint) != FingerprintText(model)) {
    return absl::DataLossError(
        absl::StrCat(path, ": the model is damaged; fit and save it again"));
  }
  return model;
}

}  // namespace tabular
}  // namespace footprint
