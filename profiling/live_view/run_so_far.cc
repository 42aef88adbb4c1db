#include "footprint/profiling/live_view/run_so_far.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/profiling/records/running_images.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/measured_run_file.h"
#include "footprint/profiling/runs/this_machine.h"

namespace footprint {

bool IsAgentsRecord(absl::string_view path) {
  return absl::EndsWith(path, ".record");
}

MeasuredRun MakeRunSoFar(std::vector<MeasuredProcess> processes) {
  MarkRunning(&processes);
  MeasuredRun run;
  run.set_schema_version(kMeasuredRunSchemaVersion);
  run.set_sampling_interval_bytes(-1);
  for (const MeasuredProcess& each : processes) {
    if (each.sites.has_value()) {
      run.set_sampling_interval_bytes(each.sites->sampling_interval_bytes);
    }
  }
  if (!processes.empty()) {
    const MeasuredImage& first = processes[0].figures;
    *run.mutable_program() = first.command_line();
    run.set_wall_time_ns(MonotonicTimeNs() - first.begin_time_ns());
    run.set_begin_unix_time_ns(absl::GetCurrentTimeNanos() -
                               run.wall_time_ns());
  }
  AddMeasuredImages(processes, &run);
  *run.mutable_machine() = ThisMachine();
  return run;
}

absl::StatusOr<MeasuredRun> ReadRunSoFar(const std::string& record_path) {
  absl::StatusOr<std::optional<MeasuredProcess>> process =
      ReadRecord(record_path);
  if (!process.ok()) return process.status();
  if (!process->has_value()) {
    return absl::NotFoundError(absl::StrCat(
        record_path, ": the process has recorded nothing yet; read it again"));
  }
  return MakeRunSoFar({**std::move(process)});
}

}  // namespace footprint
