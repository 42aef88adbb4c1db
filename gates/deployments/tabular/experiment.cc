#include "footprint/gates/deployments/tabular/experiment.h"

#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/deployments/tabular/binary_table.h"
#include "footprint/gates/deployments/tabular/csv_table.h"
#include "footprint/gates/deployments/tabular/model_file.h"
#include "footprint/gates/deployments/tabular/table.h"
#include "footprint/profiling/memory_phase.h"
#include "footprint/profiling/program_profile.h"

ABSL_FLAG(std::string, data, "", "file with the table to learn from");
ABSL_FLAG(std::string, io, "csv",
          "how the table is read: csv (text), binary (streamed into the heap) "
          "or mapped (binary, left in the file); make_table writes both forms");
ABSL_FLAG(std::string, target, "",
          "header of the CSV column to predict; empty: the last");
ABSL_FLAG(std::vector<std::string>, ignore, {},
          "headers of CSV columns to leave out, separated by commas");
ABSL_FLAG(std::string, model, "",
          "file that the model is saved to and loaded from");
ABSL_FLAG(std::string, predictions, "",
          "CSV file that the predictions are written to");

namespace footprint {
namespace tabular {
namespace {

absl::StatusOr<Table> ReadTable(const std::string& path,
                                const std::string& io) {
  if (io == "mapped") return MapBinaryTable(path);
  if (io == "binary") return ReadBinaryTable(path);
  CsvColumns columns;
  columns.target = absl::GetFlag(FLAGS_target);
  columns.ignored = absl::GetFlag(FLAGS_ignore);
  return ReadCsvTable(path, columns);
}

// Whether writing one would write the other. Without memory from the heap,
// which would count for startup.
bool IsSameFile(const std::string& one, const std::string& other) {
  if (one == other) return true;
  struct stat facts;
  struct stat other_facts;
  return stat(one.c_str(), &facts) == 0 &&
         stat(other.c_str(), &other_facts) == 0 &&
         facts.st_dev == other_facts.st_dev &&
         facts.st_ino == other_facts.st_ino;
}

absl::Status CheckFlags() {
  const std::pair<const char*, std::string> files[] = {
      {"data", absl::GetFlag(FLAGS_data)},
      {"model", absl::GetFlag(FLAGS_model)},
      {"predictions", absl::GetFlag(FLAGS_predictions)}};
  for (const auto& [name, path] : files) {
    if (path.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, "=FILE is missing; see --help"));
    }
    for (const auto& [other_name, other_path] : files) {
      if (&other_path == &path) break;
      if (IsSameFile(path, other_path)) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": is named by --", other_name, " and by --",
                         name, "; one would overwrite the other"));
      }
    }
  }
  const std::string io = absl::GetFlag(FLAGS_io);
  if (io != "csv" && io != "binary" && io != "mapped") {
    return absl::InvalidArgumentError(
        absl::StrCat("--io is \"", io, "\"; it must be csv, binary or mapped"));
  }
  return absl::OkStatus();
}

absl::Status FitAndSave(const Estimator& estimator, const Table& table,
                        const std::string& model_path) {
  MemoryPhase fit("fit");
  const absl::StatusOr<Model> model = estimator.Fit(table);
  fit.End();
  if (!model.ok()) return model.status();
  MemoryPhase save("save");
  return SaveModel(*model, model_path);
}

// 1 if every prediction is right, 0 if they are as good as the targets' mean.
double Determination(const Table& table,
                     const std::vector<double>& predictions) {
  const size_t target = table.feature_count();
  double sum = 0;
  for (size_t i = 0; i < predictions.size(); ++i) sum += table.Row(i)[target];
  const double mean = sum / static_cast<double>(predictions.size());
  double unexplained = 0;
  double total = 0;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const double truth = table.Row(i)[target];
    unexplained += (truth - predictions[i]) * (truth - predictions[i]);
    total += (truth - mean) * (truth - mean);
  }
  return total > 0 ? 1 - unexplained / total : 0;
}

// Loads the model and predicts with it; both are gone at the end.
absl::StatusOr<std::vector<double>> LoadAndPredict(
    const Estimator& estimator, const Table& table,
    const std::string& model_path) {
  MemoryPhase load("load");
  const absl::StatusOr<Model> model = LoadModel(model_path, estimator.name());
  load.End();
  if (!model.ok()) return model.status();
  MemoryPhase inference("inference");
  std::vector<double> predictions(table.row_count());
  absl::Status status =
      estimator.Predict(*model, table, absl::MakeSpan(predictions));
  if (!status.ok()) return status;
  return predictions;
}

struct Outcome {
  size_t row_count = 0;
  size_t feature_count = 0;
  double determination = 0;
};

absl::StatusOr<Outcome> RunStages(const Estimator& estimator,
                                  ProgramProfile* profile) {
  absl::Status status = CheckFlags();
  if (!status.ok()) return status;
  const std::string io = absl::GetFlag(FLAGS_io);
  const std::string model_path = absl::GetFlag(FLAGS_model);
  MemoryPhase read("read");
  absl::StatusOr<Table> table = ReadTable(absl::GetFlag(FLAGS_data), io);
  read.End();
  if (!table.ok()) return table.status();
  Outcome outcome;
  outcome.row_count = table->row_count();
  outcome.feature_count = table->feature_count();
  profile->SetName(estimator.name());
  profile->AddArgument("io", io);
  profile->AddArgument("features", absl::StrCat(outcome.feature_count));
  profile->AddArgument("rows", absl::StrCat(outcome.row_count));

  status = FitAndSave(estimator, *table, model_path);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<double>> predictions =
      LoadAndPredict(estimator, *table, model_path);
  if (!predictions.ok()) return predictions.status();
  outcome.determination = Determination(*table, *predictions);
  table->Clear();
  MemoryPhase write("write");
  status = WriteCsvColumn("prediction", *predictions,
                          absl::GetFlag(FLAGS_predictions));
  if (!status.ok()) return status;
  return outcome;
}

int ReportError(const Estimator& estimator, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", estimator.name(),
               std::string(status.message()).c_str());
  return 1;
}

void ParseFlags(int argc, char** argv, const char* purpose) {
  absl::SetProgramUsageMessage(absl::StrCat(
      purpose,
      "\n\nReads a table, fits, saves the model, loads it, predicts and writes "
      "the predictions:\n  ",
      argv[0],
      " --data=data.csv --model=data.model --predictions=predictions.csv\n"
      "\nWith --memory_profile_out=FILE it also writes what memory each stage "
      "took."));
  absl::FlagsUsageConfig usage;
  usage.contains_help_flags = [](absl::string_view file) {
    return absl::StrContains(file, "gates/deployments/tabular/");
  };
  usage.contains_helpshort_flags = usage.contains_help_flags;
  absl::SetFlagsUsageConfig(usage);
  absl::ParseCommandLine(argc, argv);
  // A limit of file size must be an error of write, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int RunExperiment(
    int argc, char** argv, const char* purpose,
    const std::function<std::unique_ptr<Estimator>()>& make_estimator) {
  ProgramProfile profile(&argc, argv);
  ParseFlags(argc, argv, purpose);
  const std::unique_ptr<Estimator> estimator = make_estimator();
  const absl::StatusOr<Outcome> outcome = RunStages(*estimator, &profile);
  if (!outcome.ok()) return ReportError(*estimator, outcome.status());
  const absl::Status status = profile.Write();
  if (!status.ok()) return ReportError(*estimator, status);
  // After the profile: standard output allocates its buffer by where it leads.
  std::printf("%s: %zu rows, %zu features, R^2 %.4f\n", estimator->name(),
              outcome->row_count, outcome->feature_count,
              outcome->determination);
  return 0;
}

}  // namespace tabular
}  // namespace footprint
