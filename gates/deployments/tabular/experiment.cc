#include "footprint/gates/deployments/tabular/experiment.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/gates/deployments/tabular/estimators/model_file.h"
#include "footprint/gates/deployments/tabular/tables/binary_table.h"
#include "footprint/gates/deployments/tabular/tables/csv_flags.h"
#include "footprint/gates/deployments/tabular/tables/csv_table.h"
#include "footprint/gates/deployments/tabular/tables/table.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/recording/memory_phase.h"
#include "footprint/profiling/recording/program_profile.h"

ABSL_FLAG(std::string, data, "", "file with the table to learn from");
ABSL_FLAG(std::string, io, "csv",
          "how the table is read: csv (text), binary (streamed into the heap) "
          "or mapped (binary, left in the file); make_table writes both forms");
ABSL_FLAG(std::string, model, "",
          "file that the model is saved to and loaded from");
ABSL_FLAG(std::string, predictions, "",
          "CSV file that the predictions are written to");
ABSL_FLAG(int64_t, held_out_rows, 0,
          "how many of the table's last rows are predicted, but not learned "
          "from");

namespace footprint {
namespace tabular {
namespace {

absl::StatusOr<Table> ReadTable(const std::string& path,
                                const std::string& io) {
  if (io == "mapped") return MapBinaryTable(path);
  if (io == "binary") return ReadBinaryTable(path);
  const absl::StatusOr<CsvColumns> columns = CsvColumnsOfFlags();
  if (!columns.ok()) return columns.status();
  return ReadCsvTable(path, *columns);
}

// A memory phase. Its name is also the stage in the message about a failed
// allocation.
class Stage {
 public:
  explicit Stage(const char* name) : phase_(name) { last_name_ = name; }
  void End() { phase_.End(); }
  static const char* last_name() { return last_name_; }

 private:
  inline static const char* last_name_ = "startup";
  MemoryPhase phase_;
};

absl::Status OverwritesError(const std::string& path, const char* name,
                             const char* other_name) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is named by --", other_name, " and by --", name,
                   "; one would overwrite the other"));
}

// Compares without heap memory, which would count in the profile.
absl::Status CheckFlags(const ProgramProfile& profile) {
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
        return OverwritesError(path, name, other_name);
      }
    }
    if (IsSameFile(path, profile.profile_path())) {
      return OverwritesError(path, "memory_profile_out", name);
    }
    if (IsSameFile(path, profile.samples_path())) {
      return OverwritesError(path, "memory_samples_out", name);
    }
  }
  const std::string io = absl::GetFlag(FLAGS_io);
  if (io != "csv" && io != "binary" && io != "mapped") {
    return absl::InvalidArgumentError(
        absl::StrCat("--io is \"", io, "\"; it must be csv, binary or mapped"));
  }
  if (absl::GetFlag(FLAGS_held_out_rows) < 0) {
    return absl::InvalidArgumentError("--held_out_rows must be 0 or more");
  }
  return io == "csv" ? absl::OkStatus() : RefuseCsvFlags();
}

constexpr char kMoreMemory[] =
    "; raise the limit of memory (ulimit -v, the container's), or take a "
    "smaller table: fewer rows, fewer columns (--ignore), or --io=mapped, "
    "which "
    "leaves it in its file";

absl::StatusOr<Model> Fit(const Estimator& estimator, const Table& table) {
  // The status has no text, because the text would be on the heap during the
  // fit.
  absl::StatusOr<Model> model = absl::ResourceExhaustedError("");
  try {
    model = estimator.Fit(table);
  } catch (const std::bad_alloc&) {
  }
  if (!absl::IsResourceExhausted(model.status())) return model;
  return absl::ResourceExhaustedError(
      absl::StrCat("out of memory in stage fit, which takes about ",
                   estimator.FitBytes(table.feature_count()), " bytes",
                   model.status().message().empty() ? "" : ": ",
                   std::string(model.status().message()), kMoreMemory));
}

absl::Status FitAndSave(const Estimator& estimator, const Table& table,
                        const std::string& model_path) {
  Stage fit("fit");
  const absl::StatusOr<Model> model = Fit(estimator, table);
  fit.End();
  if (!model.ok()) return model.status();
  Stage save("save");
  return SaveModel(*model, model_path);
}

// Returns R^2 over the rows [begin, end): 1 if every prediction is right, 0 if
// they are as good as the targets' mean. Returns nullopt if all targets are
// equal.
absl::optional<double> RSquared(const Table& table,
                                absl::Span<const double> predictions,
                                size_t begin, size_t end) {
  const size_t target = table.feature_count();
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += table.Row(i)[target];
  const double mean = sum / static_cast<double>(end - begin);
  double unexplained = 0;
  double total = 0;
  for (size_t i = begin; i < end; ++i) {
    const double truth = table.Row(i)[target];
    unexplained += (truth - predictions[i]) * (truth - predictions[i]);
    total += (truth - mean) * (truth - mean);
  }
  if (!(total > 0)) return absl::nullopt;
  return 1 - unexplained / total;
}

using Predictions = std::unique_ptr<double[]>;

// Loads the model and predicts with it. Frees the model before it returns.
absl::StatusOr<Predictions> LoadAndPredict(const Estimator& estimator,
                                           const Table& table,
                                           const std::string& model_path) {
  Stage load("load");
  const absl::StatusOr<Model> model = LoadModel(model_path, estimator.name());
  load.End();
  if (!model.ok()) return model.status();
  Stage inference("inference");
  const size_t row_count = table.row_count();
  Predictions predictions(new (std::nothrow) double[row_count]);
  if (predictions == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "out of memory in stage inference: predictions of ", row_count,
        " rows take ", row_count * sizeof(double), " bytes", kMoreMemory));
  }
  absl::Status status = estimator.Predict(
      *model, table, absl::MakeSpan(predictions.get(), row_count));
  if (!status.ok()) return status;
  return predictions;
}

struct Outcome {
  size_t row_count = 0;
  size_t feature_count = 0;
  size_t learned_row_count = 0;
  absl::optional<double> learned_r_squared;
  absl::optional<double> held_out_r_squared;
};

// Computes how well the predictions fit. Returns kFailedPrecondition if they do
// not fit at all.
absl::Status Judge(const Estimator& estimator, const Table& table,
                   absl::Span<const double> predictions, Outcome* outcome) {
  // Networks that have not learned anything yet have an R^2 above -0.5.
  constexpr double kLeastRSquared = -1;
  const size_t learned = outcome->learned_row_count;
  outcome->learned_r_squared = RSquared(table, predictions, 0, learned);
  if (outcome->learned_r_squared.has_value() &&
      !(*outcome->learned_r_squared >= kLeastRSquared)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the training diverged: the predictions of the rows it learned from "
        "have an R^2 of %.3g, far worse than their mean would; they are not "
        "written, and the model saved is of no use; %s",
        *outcome->learned_r_squared, estimator.advice()));
  }
  if (learned < outcome->row_count) {
    outcome->held_out_r_squared =
        RSquared(table, predictions, learned, outcome->row_count);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> LearnedRowCount(const Table& table) {
  const uint64_t held_out =
      static_cast<uint64_t>(absl::GetFlag(FLAGS_held_out_rows));
  if (held_out == 0) return table.row_count();
  if (held_out < table.row_count()) return table.row_count() - held_out;
  return absl::InvalidArgumentError(
      absl::StrCat("--held_out_rows=", held_out, " leaves none of the ",
                   table.row_count(), " rows to learn from; hold out fewer"));
}

// Runs all stages, each as a memory phase. Frees data as soon as no later stage
// needs them.
absl::StatusOr<Outcome> RunStages(const Estimator& estimator,
                                  ProgramProfile* profile) {
  absl::Status status = CheckFlags(*profile);
  if (!status.ok()) return status;
  const std::string io = absl::GetFlag(FLAGS_io);
  const std::string model_path = absl::GetFlag(FLAGS_model);
  Stage read("read");
  absl::StatusOr<Table> table = ReadTable(absl::GetFlag(FLAGS_data), io);
  read.End();
  if (!table.ok()) return table.status();
  const absl::StatusOr<size_t> learned_row_count = LearnedRowCount(*table);
  if (!learned_row_count.ok()) return learned_row_count.status();
  Outcome outcome;
  outcome.row_count = table->row_count();
  outcome.feature_count = table->feature_count();
  outcome.learned_row_count = *learned_row_count;
  // The profile is named by what was measured.
  profile->SetName(estimator.name());
  profile->AddArgument("io", io);
  profile->AddArgument("features", absl::StrCat(outcome.feature_count));
  profile->AddArgument("rows", absl::StrCat(outcome.row_count));

  // Fits on the rows that are not held out, and saves the model.
  if (outcome.learned_row_count == outcome.row_count) {
    status = FitAndSave(estimator, *table, model_path);
  } else {
    profile->AddArgument("held_out", absl::StrCat(outcome.row_count -
                                                  outcome.learned_row_count));
    status = FitAndSave(estimator, table->FirstRows(outcome.learned_row_count),
                        model_path);
  }
  if (!status.ok()) return status;
  // Predicts all rows with the saved model, and compares with the targets.
  absl::StatusOr<Predictions> predictions =
      LoadAndPredict(estimator, *table, model_path);
  if (!predictions.ok()) return predictions.status();
  const absl::Span<const double> numbers(predictions->get(), outcome.row_count);
  status = Judge(estimator, *table, numbers, &outcome);
  if (!status.ok()) return status;
  table->Clear();
  Stage write("write");
  status =
      WriteCsvColumn("prediction", numbers, absl::GetFlag(FLAGS_predictions));
  if (!status.ok()) return status;
  return outcome;
}

// Returns the error for a std::bad_alloc that nothing else has reported.
absl::Status NoMemoryError() {
  const HeapPhaseBytes heap = ReadHeapPhase(ProcessHeapPhase());
  return absl::ResourceExhaustedError(absl::StrCat(
      "out of memory in stage ", Stage::last_name(), ": the heap reached ",
      heap.peak_live_net_bytes, " bytes, and more was refused", kMoreMemory));
}

absl::StatusOr<Outcome> RunAndProfile(const Estimator& estimator,
                                      ProgramProfile* profile) {
  absl::StatusOr<Outcome> outcome = RunStages(estimator, profile);
  if (!outcome.ok()) return outcome;
  const absl::Status status = profile->Write();
  if (!status.ok()) return status;
  return outcome;
}

std::string RSquaredText(const absl::optional<double>& r_squared) {
  return r_squared.has_value() ? absl::StrFormat("R^2 %.4f", *r_squared)
                               : "R^2 unknown (every target is the same)";
}

int ReportError(const Estimator& estimator, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", estimator.name(),
               std::string(status.message()).c_str());
  return 1;
}

absl::Status ParseFlags(int argc, char** argv, const char* purpose) {
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
  // Exceeding a limit of file sizes must be an error of write, and not end the
  // program.
  std::signal(SIGXFSZ, SIG_IGN);
  return RefuseArguments(
      ParseProgramFlags(argc, argv, /*wrong_flag_exit_code=*/1));
}

}  // namespace

int RunExperiment(
    int argc, char** argv, const char* purpose,
    const std::function<std::unique_ptr<Estimator>()>& make_estimator) {
  ProgramProfile profile(&argc, argv);
  const absl::Status parsed = ParseFlags(argc, argv, purpose);
  const std::unique_ptr<Estimator> estimator = make_estimator();
  if (!parsed.ok()) return ReportError(*estimator, parsed);
  absl::StatusOr<Outcome> outcome = absl::UnknownError("");
  try {
    outcome = RunAndProfile(*estimator, &profile);
  } catch (const std::bad_alloc&) {
    outcome = NoMemoryError();
  }
  if (!outcome.ok()) return ReportError(*estimator, outcome.status());
  // This comes after the profile, because the buffer that standard output
  // allocates depends on its destination.
  std::printf("%s: %zu rows, %zu features, %s of the %zu rows it learned from",
              estimator->name(), outcome->row_count, outcome->feature_count,
              RSquaredText(outcome->learned_r_squared).c_str(),
              outcome->learned_row_count);
  const size_t held_out = outcome->row_count - outcome->learned_row_count;
  if (held_out > 0) {
    std::printf(", %s of the %zu held out",
                RSquaredText(outcome->held_out_r_squared).c_str(), held_out);
  }
  std::printf("\n");
  return FinishStandardOutput(estimator->name());
}

}  // namespace tabular
}  // namespace footprint
