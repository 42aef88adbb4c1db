#include "footprint/gates/deployments/tabular/model_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/checksum.h"
#include "footprint/base/files/input_file.h"
#include "footprint/base/files/output_file.h"

namespace footprint {
namespace tabular {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "numbers are stored as a little-endian processor holds them");

constexpr char kMagic[8] = "FPMODEL";
constexpr uint64_t kVersion = 1;

struct Header {
  char magic[8];
  uint64_t version;
  char estimator[32];
  uint64_t feature_count;
  uint64_t parameter_count;
  uint64_t reserved;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 80, "the layout of the file");

absl::string_view Bytes(const void* data, size_t size) {
  return {static_cast<const char*>(data), size};
}

absl::string_view ParameterBytes(const std::vector<double>& parameters) {
  return Bytes(parameters.data(), parameters.size() * sizeof(double));
}

uint64_t ModelChecksum(const Header& header,
                       const std::vector<double>& parameters) {
  return Checksum(ParameterBytes(parameters),
                  Checksum(Bytes(&header, offsetof(Header, checksum))));
}

absl::Status DamagedError(const std::string& path) {
  return absl::DataLossError(absl::StrCat(
      path, ": the model is damaged or cut short; fit and save it again"));
}

absl::Status CheckHeader(const Header& header, const InputFile& file,
                         absl::string_view estimator) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        file.path(), ": is no model; name a file that was saved by --model"));
  }
  if (header.version > kVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        file.path(), ": has version ", header.version,
        " of the format, newer "
        "than ",
        kVersion, ", which this program knows; update the program"));
  }
  if (header.parameter_count >
          (file.size_bytes() - sizeof(Header)) / sizeof(double) ||
      file.size_bytes() !=
          sizeof(Header) + header.parameter_count * sizeof(double)) {
    return DamagedError(file.path());
  }
  const std::string found(header.estimator,
                          strnlen(header.estimator, sizeof(header.estimator)));
  if (found != estimator) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": is a model of \"", found, "\", not of \"",
                     estimator, "\"; load it with that program"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SaveModel(const Model& model, const std::string& path) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  std::copy_n(model.estimator.data(),
              std::min(model.estimator.size(), sizeof(header.estimator) - 1),
              header.estimator);
  header.feature_count = model.feature_count;
  header.parameter_count = model.parameters.size();
  header.checksum = ModelChecksum(header, model.parameters);
  OutputFile file(path);
  file.Write(Bytes(&header, sizeof(header)));
  file.Write(ParameterBytes(model.parameters));
  return file.Commit();
}

absl::StatusOr<Model> LoadModel(const std::string& path,
                                absl::string_view estimator) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  if (file->size_bytes() < sizeof(Header)) return DamagedError(path);
  Header header;
  absl::Status status = file->ReadExactly(&header, sizeof(header));
  if (!status.ok()) return status;
  status = CheckHeader(header, *file, estimator);
  if (!status.ok()) return status;
  Model model;
  model.estimator = std::string(estimator);
  model.feature_count = static_cast<size_t>(header.feature_count);
  model.parameters.resize(static_cast<size_t>(header.parameter_count));
  status = file->ReadExactly(model.parameters.data(),
                             model.parameters.size() * sizeof(double));
  if (!status.ok()) return status;
  if (header.checksum != ModelChecksum(header, model.parameters)) {
    return DamagedError(path);
  }
  return model;
}

}  // namespace tabular
}  // namespace footprint
