#include "footprint/profiling/memprof/make_measured_run.h"

#include <set>
#include <string>
#include <vector>

#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/memprof/machine_needs.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/measured_run_file.h"
#include "footprint/profiling/runs/this_machine.h"

namespace footprint {
namespace {

// Adds notes on samples that were requested and are missing. Images are in the
// processes' order.
void AddNotes(const AgentRun& agent_run,
              const std::vector<MeasuredProcess>& processes, MeasuredRun* run) {
  for (size_t i = 0; i < processes.size(); ++i) {
    MeasuredImage* const image = run->mutable_images(static_cast<int>(i));
    if (agent_run.processor_interval_ns >= 0 &&
        !processes[i].processor_time.has_value()) {
      image->add_notes(
          "processor time was not sampled: that needs Linux 5.11, x86-64, and "
          "room in TMPDIR");
    }
    if (agent_run.copy_interval_bytes >= 0 &&
        !processes[i].copies.has_value()) {
      image->add_notes("copies were not sampled: that needs room in TMPDIR");
    }
  }
}

// Adds the programs that were not recorded. The agent itself reports some that
// are lost, and why.
void AddUnrecorded(const AgentRunEnd& end, MeasuredRun* run) {
  int64_t count = static_cast<int64_t>(end.unrecorded_programs.size());
  for (const MeasuredImage& image : run->images()) {
    count -= image.lost_child_count();
  }
  if (count <= 0) return;
  run->set_unrecorded_process_count(static_cast<int32_t>(count));
  std::set<std::string> names;
  for (const auto& [process_id, name] : end.unrecorded_programs) {
    if (names.insert(name).second) {
      run->add_unrecorded_programs(EscapeForProto(name));
    }
  }
}

}  // namespace

MeasuredRun MakeMeasuredRun(const AgentRun& agent_run, const AgentRunEnd& end) {
  MeasuredRun run;
  run.set_schema_version(kMeasuredRunSchemaVersion);
  for (const std::string& word : agent_run.arguments) {
    run.add_program(EscapeForProto(word));
  }
  run.set_exit_status(end.exit_status);
  run.set_signal_number(end.signal_number);
  run.set_has_lost_records(!end.removed_folder.empty());
  run.set_begin_unix_time_ns(end.begin_unix_time_ns);
  run.set_wall_time_ns(end.wall_time_ns);
  run.set_user_time_ns(end.user_time_ns);
  run.set_system_time_ns(end.system_time_ns);
  run.set_peak_resident_sum_bytes(end.peak_resident_sum_bytes);
  run.set_sampling_interval_bytes(agent_run.sampling_interval_bytes);
  AddMeasuredImages(end.processes, &run);
  AddNotes(agent_run, end.processes, &run);
  AddUnrecorded(end, &run);
  AddMachineNeeds(end, &run);
  *run.mutable_machine() = ThisMachine();
  for (const MeasuredProcess& process : end.processes) {
    if (process.figures.allocator().empty()) continue;
    run.mutable_machine()->set_allocator(process.figures.allocator());
    break;
  }
  return run;
}

}  // namespace footprint
