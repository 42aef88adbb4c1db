#include "footprint/profiling/measuring/run_failure.h"

#include "footprint/profiling/measuring/failure_text.h"

namespace footprint {

bool EndedWell(const ProcessEnd& end, int time_limit_seconds,
               ProducerFailure* failure) {
  switch (end.kind) {
    case ProcessEnd::Kind::kNotStarted:
      failure->set_kind(ProducerFailure::NOT_STARTED);
      failure->set_detail(end.start_error);
      return false;
    case ProcessEnd::Kind::kTimedOut:
      failure->set_kind(ProducerFailure::TIMED_OUT);
      failure->set_time_limit_seconds(time_limit_seconds);
      failure->set_detail(
          "raise timeout_seconds; where each benchmark, in a process of its "
          "own, sets up the same again, args = [\"--memory_one_process\"] does "
          "it once");
      return false;
    case ProcessEnd::Kind::kSignalled:
      failure->set_kind(ProducerFailure::SIGNALLED);
      failure->set_signal_number(end.signal_number);
      return false;
    case ProcessEnd::Kind::kExited:
      if (end.exit_status == 0) return true;
      failure->set_kind(ProducerFailure::EXITED);
      failure->set_exit_status(end.exit_status);
      return false;
  }
  return false;
}

void MakeStable(const std::vector<std::string>& folders, const ProcessEnd& end,
                ProducerFailure* failure) {
  FailureTextOptions options;
  options.folders = folders;
  options.process_id = end.process_id;
  if (failure->standard_error_tail().empty()) {
    failure->set_standard_error_tail(
        StableFailureText(end.standard_error_tail, options));
  }
  failure->set_detail(StableFailureText(failure->detail(), options));
}

}  // namespace footprint
