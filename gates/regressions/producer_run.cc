#include "footprint/gates/regressions/producer_run.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/measuring/fresh_process.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

constexpr char kRecordName[] = "record";

std::vector<std::string> SamplerArguments(const Producer& producer,
                                          const std::string& benchmark,
                                          const std::string& folder) {
  std::vector<std::string> arguments = {
      producer.sampler,
      absl::StrCat("--label=", producer.label),
      absl::StrCat("--data=", folder, "/", kPlantedRegressionName),
      absl::StrCat("--as=", kPlantedRegressionName),
      absl::StrCat("--output=", folder, "/profile"),
      absl::StrCat("--samples_output=", folder, "/samples")};
  if (producer.has_filter) {
    arguments.push_back(absl::StrCat("--argument=--benchmark_filter=^",
                                     EscapeForRegularExpression(benchmark),
                                     "$"));
  }
  return arguments;
}

// Removes the files of an earlier run.
absl::Status RemoveRecords(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    if (absl::StartsWith(entry.path().filename().string(), kRecordName)) {
      fs::remove(entry.path(), error);
    }
  }
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(folder, ": ", error.message()));
}

absl::Status RunSampler(const Producer& producer, const std::string& benchmark,
                        const std::string& folder) {
  FreshProcess process;
  std::error_code error;
  process.executable = fs::absolute(producer.sampler, error).string();
  process.arguments = SamplerArguments(producer, benchmark, folder);
  process.environment = {"PATH=/usr/bin:/bin", "LANG=C"};
  process.working_folder = fs::current_path(error).string();
  const absl::StatusOr<ProcessEnd> end = RunFreshProcess(process);
  if (!end.ok()) return end.status();
  if (end->kind == ProcessEnd::Kind::kExited && end->exit_status == 0) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(
      producer.sampler, " failed for ", benchmark, ": ", end->start_error,
      EscapeForTerminal(end->standard_error_tail)));
}

absl::StatusOr<MemoryProfile> Measure(const Producer& producer,
                                      const std::string& benchmark,
                                      PlantedRegression planted,
                                      const std::string& folder) {
  const std::string record = absl::StrCat(folder, "/", kRecordName);
  if (!CopyText(record.c_str(), planted.record_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": the name is too long; set TMPDIR"));
  }
  absl::Status status = RemoveRecords(folder);
  if (!status.ok()) return status;
  status =
      ReplaceFile(absl::StrCat(folder, "/", kPlantedRegressionName),
                  absl::string_view(reinterpret_cast<const char*>(&planted),
                                    sizeof(planted)),
                  ToDisk::kNoFsync);
  if (!status.ok()) return status;
  status = RunSampler(producer, benchmark, folder);
  if (!status.ok()) return status;
  absl::StatusOr<MemoryProfile> profile =
      ReadMemoryProfileFile(absl::StrCat(folder, "/profile"));
  if (profile.ok() && profile->has_failure()) {
    return absl::InternalError(absl::StrCat(
        benchmark, " failed: ", profile->failure().detail(), " ",
        EscapeForTerminal(profile->failure().standard_error_tail())));
  }
  return profile;
}

std::vector<std::string> RecordPaths(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    if (absl::StartsWith(entry.path().filename().string(),
                         absl::StrCat(kRecordName, "."))) {
      paths.push_back(entry.path().string());
    }
  }
  return paths;
}

bool IsSameCourse(const AllocationRecord& one, const AllocationRecord& other) {
  if (one.blocks.size() != other.blocks.size() ||
      one.visits.size() != other.visits.size()) {
    return false;
  }
  for (size_t i = 0; i < one.blocks.size(); ++i) {
    if (one.blocks[i].requested_bytes != other.blocks[i].requested_bytes) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<RecordedRun> RecordProducer(const Producer& producer,
                                           const std::string& benchmark,
                                           const std::string& folder) {
  absl::StatusOr<MemoryProfile> profile =
      Measure(producer, benchmark, PlantedRegression(), folder);
  if (!profile.ok()) return profile.status();
  RecordedRun run;
  run.profile = *std::move(profile);
  bool is_first = true;
  for (const std::string& path : RecordPaths(folder)) {
    const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<AllocationRecord> record = ReadAllocationRecord(*bytes);
    if (!record.ok()) return record.status();
    if (is_first) {
      run.record = *std::move(record);
    } else if (!IsSameCourse(run.record, *record)) {
      return absl::DataLossError(
          absl::StrCat(benchmark, " makes other calls in each process"));
    }
    is_first = false;
  }
  if (!is_first) return run;
  return absl::DataLossError(absl::StrCat(benchmark, " recorded nothing"));
}

absl::StatusOr<PlantedRun> RunPlanted(const Producer& producer,
                                      const std::string& benchmark,
                                      PlantedRegression planted,
                                      const std::string& folder) {
  absl::StatusOr<MemoryProfile> profile =
      Measure(producer, benchmark, planted, folder);
  if (!profile.ok()) return profile.status();
  PlantedRun run;
  run.profile = *std::move(profile);
  const absl::StatusOr<std::string> told =
      ReadWholeFile(absl::StrCat(folder, "/", kRecordName));
  if (told.ok()) {
    run.process_count =
        static_cast<int>(told->size() / (sizeof(kPlantedLine) - 1));
  }
  return run;
}

}  // namespace footprint
