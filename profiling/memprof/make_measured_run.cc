#include "footprint/profiling/memprof/make_measured_run.h"

#include <string>

#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/memprof/machine_needs.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/measured_run_file.h"
#include "footprint/profiling/runs/this_machine.h"

namespace footprint {

MeasuredRun MakeMeasuredRun(const AgentRun& agent_run, const AgentRunEnd& end) {
  MeasuredRun run;
  run.set_schema_version(kMeasuredRunSchemaVersion);
  for (const std::string& word : agent_run.arguments) {
    run.add_program(EscapeForProto(word));
  }
  run.set_exit_status(end.exit_status);
  run.set_signal_number(end.signal_number);
  run.set_begin_unix_time_ns(end.begin_unix_time_ns);
  run.set_wall_time_ns(end.wall_time_ns);
  run.set_user_time_ns(end.user_time_ns);
  run.set_system_time_ns(end.system_time_ns);
  run.set_peak_resident_sum_bytes(end.peak_resident_sum_bytes);
  run.set_sampling_interval_bytes(agent_run.sampling_interval_bytes);
  AddMeasuredImages(end.processes, &run);
  AddMachineNeeds(end, &run);
  *run.mutable_machine() = ThisMachine();
  return run;
}

}  // namespace footprint
