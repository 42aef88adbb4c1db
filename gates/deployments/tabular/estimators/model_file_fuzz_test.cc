// Reads any bytes as a model file, and as the header of a model file.

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/fuzzed_safetensors.h"
#include "footprint/base/testing/named_file.h"
#include "footprint/gates/deployments/tabular/estimators/model_file.h"

namespace footprint {
namespace tabular {
namespace {

void Load(absl::string_view bytes) {
  const NamedFile file(bytes);
  const absl::StatusOr<Model> model = LoadModel(file.path(), "x");
  if (!model.ok()) return RequireRefusal(model.status());
  Require(model->estimator == "x", "a model is the estimator's");
  Require(model->parameters.size() * sizeof(double) <= bytes.size(),
          "the file holds the parameters");
}

void LoadAnyFile(absl::string_view bytes) {
  Load(bytes);
  Load(FuzzedSafetensors(bytes));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(LoadAnyFile)

}  // namespace tabular
}  // namespace footprint
