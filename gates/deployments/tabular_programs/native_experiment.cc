// Runs the tabular experiment in C++ as an ordinary program, for memprof to
// measure: it names its stages, but has no code for counters or profiles.
//
//   native_experiment --model=linear --features=10 --rows=1000
//
// Generates a table, writes it, loads it, fits, saves the model, and predicts
// with the saved model, as tabular_experiment.py does. Data are freed as soon
// as no later stage needs them. Files are in a temporary folder below TMPDIR,
// which is removed at the end.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/gates/deployments/tabular/estimators/linear_regression.h"
#include "footprint/gates/deployments/tabular/estimators/model_file.h"
#include "footprint/gates/deployments/tabular/estimators/neural_network.h"
#include "footprint/gates/deployments/tabular/tables/binary_table.h"
#include "footprint/gates/deployments/tabular/tables/csv_flags.h"
#include "footprint/gates/deployments/tabular/tables/linear_data.h"
#include "footprint/gates/deployments/tabular/tables/table.h"
#include "footprint/profiling/stages/footprint_stage.h"

ABSL_FLAG(std::string, model, "linear", "linear or network");
ABSL_FLAG(int64_t, features, 10, "columns of the table, without the target");
ABSL_FLAG(int64_t, rows, 1000, "rows of the table");
ABSL_FLAG(int, epochs, 2, "how often the network goes through the table");

namespace footprint {
namespace tabular {
namespace {

// A new folder below TMPDIR, which the destructor removes.
class OwnFolder {
 public:
  OwnFolder() {
    std::error_code error;
    std::string pattern =
        (std::filesystem::temp_directory_path(error) / "tabular-XXXXXX")
            .string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

absl::StatusOr<std::unique_ptr<Estimator>> MakeEstimator() {
  const std::string model = absl::GetFlag(FLAGS_model);
  if (model == "linear") return std::make_unique<LinearRegression>();
  if (model != "network") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--model is \"", model, "\"; it must be linear or network"));
  }
  NeuralNetworkOptions options;
  options.epochs = absl::GetFlag(FLAGS_epochs);
  return std::make_unique<NeuralNetwork>(options);
}

absl::StatusOr<Table> Generate(size_t feature_count, size_t row_count) {
  LinearData data(feature_count, /*seed=*/1);
  TableBuilder builder(feature_count + 1, row_count);
  for (size_t i = 0; i < row_count; ++i) {
    double* const row = builder.AddRow();
    if (row == nullptr) {
      return absl::ResourceExhaustedError("no memory for the table");
    }
    data.NextRow(absl::MakeSpan(row, feature_count + 1));
  }
  return std::move(builder).Build();
}

absl::Status Write(const Table& table, const std::string& path) {
  absl::StatusOr<BinaryTableWriter> writer =
      BinaryTableWriter::Create(path, table.row_count(), table.column_count());
  if (!writer.ok()) return writer.status();
  for (size_t row = 0; row < table.row_count(); ++row) {
    absl::Status status = writer->AddRow(table.Row(row));
    if (!status.ok()) return status;
  }
  return writer->Commit();
}

absl::Status GenerateAndWrite(size_t feature_count, size_t row_count,
                              const std::string& path) {
  absl::StatusOr<Table> table = absl::UnknownError("");
  {
    const Stage stage("datagen");
    table = Generate(feature_count, row_count);
  }
  if (!table.ok()) return table.status();
  const Stage stage("write");
  return Write(*table, path);
}

absl::Status FitAndSave(const Estimator& estimator, const Table& table,
                        const std::string& path) {
  absl::StatusOr<Model> model = absl::UnknownError("");
  {
    const Stage stage("fit");
    model = estimator.Fit(table);
  }
  if (!model.ok()) return model.status();
  const Stage stage("save");
  return SaveModel(*model, path);
}

absl::Status Predict(const Estimator& estimator, const Table& table,
                     const std::string& path) {
  const Stage stage("inference");
  const absl::StatusOr<Model> model = LoadModel(path, estimator.name());
  if (!model.ok()) return model.status();
  std::vector<double> predictions(table.row_count());
  return estimator.Predict(*model, table, absl::MakeSpan(predictions));
}

absl::Status Run() {
  const int64_t features = absl::GetFlag(FLAGS_features);
  const int64_t rows = absl::GetFlag(FLAGS_rows);
  if (features < 1 || rows < 1) {
    return absl::InvalidArgumentError("--features and --rows must be above 0");
  }
  const absl::StatusOr<std::unique_ptr<Estimator>> estimator = MakeEstimator();
  if (!estimator.ok()) return estimator.status();
  const OwnFolder folder;
  if (folder.path().empty()) {
    return absl::InternalError("no folder can be made; set TMPDIR to another");
  }
  const std::string table_path = folder.path() + "/table";
  const std::string model_path = folder.path() + "/model";
  absl::Status status = GenerateAndWrite(static_cast<size_t>(features),
                                         static_cast<size_t>(rows), table_path);
  if (!status.ok()) return status;
  absl::StatusOr<Table> table = absl::UnknownError("");
  {
    const Stage stage("load");
    table = ReadBinaryTable(table_path);
  }
  if (!table.ok()) return table.status();
  status = FitAndSave(**estimator, *table, model_path);
  if (!status.ok()) return status;
  return Predict(**estimator, *table, model_path);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "runs the tabular experiment over a table that it generates.");
  absl::Status status = footprint::tabular::RefuseArguments(
      footprint::ParseProgramFlags(argc, argv, /*wrong_flag_exit_code=*/1));
  if (status.ok()) status = footprint::tabular::Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "native_experiment: %s\n",
               std::string(status.message()).c_str());
  return 1;
}
