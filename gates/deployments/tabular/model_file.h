// Fitted models as files.
//
//   Model model{"linear_regression", /*feature_count=*/10, parameters};
//   absl::Status status = SaveModel(model, "prices.model");
//   absl::StatusOr<Model> loaded = LoadModel("prices.model",
//                                            "linear_regression");
//
// The file: a header of 80 bytes, then the parameters, each a double of 8
// bytes, least significant byte first.
//
//   bytes  0 to  7  "FPMODEL" and a zero
//   bytes  8 to 15  version of the format, 1
//   bytes 16 to 47  name of the estimator, filled up with zeros
//   bytes 48 to 55  count of features
//   bytes 56 to 63  count of parameters
//   bytes 64 to 71  zero
//   bytes 72 to 79  checksum (checksum.h) of the bytes before it, then of the
//                   parameters
//
// Thread-safe: no state is kept. Memory: saving, OutputFile's buffer; loading,
// the parameters. Time: linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_MODEL_FILE_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_MODEL_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace tabular {

struct Model {
  // Which estimator understands the parameters; at most 31 characters.
  std::string estimator;
  size_t feature_count = 0;
  std::vector<double> parameters;
};

// Errors as of output_file.h; a failed save leaves the old file.
absl::Status SaveModel(const Model& model, const std::string& path);

// * kNotFound, kPermissionDenied or kInternal: the file cannot be opened;
// * kInvalidArgument: no model, or one of another estimator;
// * kFailedPrecondition: of a newer version;
// * kDataLoss: damaged or cut short.
absl::StatusOr<Model> LoadModel(const std::string& path,
                                absl::string_view estimator);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_MODEL_FILE_H_
