// Saves and loads fitted models as files.
//
//   Model model{"linear_regression", /*feature_count=*/10, parameters};
//   absl::Status status = SaveModel(model, "prices.model");
//   absl::StatusOr<Model> loaded = LoadModel("prices.model",
//                                            "linear_regression");
//
// The file has the safetensors format: one tensor "parameters" (F64) and three
// entries of metadata, "estimator", "feature_count" and "fingerprint". The last
// is a hash of the other two and of the parameters, in hexadecimal.
//
// Thread-safe, without state. Memory: saving needs AtomicFile's buffer; loading
// needs the parameters. Time: linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_MODEL_FILE_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_MODEL_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace tabular {

struct Model {
  // Name of the estimator that made the parameters.
  std::string estimator;
  size_t feature_count = 0;
  std::vector<double> parameters;
};

// Writes the model to `path`. Fails as SafetensorsWriter does; a failed save
// leaves the old file.
absl::Status SaveModel(const Model& model, const std::string& path);

// Reads a model of this estimator. Fails as SafetensorsFile does
// (//base/safetensors:safetensors_file), so with kInvalidArgument if the file
// is cut short. Also returns kInvalidArgument if the file holds no model or one
// of another estimator, and kDataLoss if it is damaged.
absl::StatusOr<Model> LoadModel(const std::string& path,
                                absl::string_view estimator);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_MODEL_FILE_H_
