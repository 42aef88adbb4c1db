#include "footprint/memo/schedule.h"

#include <algorithm>

namespace footprint {

const char* ScheduleMethodName(ScheduleMethod method) {
  switch (method) {
    case ScheduleMethod::kKeepToLastUse:
      return "keep to last use";
    case ScheduleMethod::kBeladyOfEqualSizes:
      return "Belady of equal sizes";
    case ScheduleMethod::kExactSearch:
      return "exact search";
    case ScheduleMethod::kBeladyByBytes:
      return "Belady by bytes";
  }
  return "unknown";
}

int64_t PeakBytes(const ScheduleRequest& request, const Schedule& schedule) {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  for (const ScheduledStep& step : schedule.steps) {
    for (int value : step.loads) {
      live_bytes += request.values[static_cast<size_t>(value)].bytes;
    }
    peak_bytes = std::max(peak_bytes, live_bytes);
    for (int value : step.evictions) {
      live_bytes -= request.values[static_cast<size_t>(value)].bytes;
    }
  }
  return peak_bytes;
}

}  // namespace footprint
