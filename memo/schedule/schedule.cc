#include "footprint/memo/schedule/schedule.h"

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
    for (int index : step.loads) {
      const PlannedValue& value = request.values[static_cast<size_t>(index)];
      live_bytes += value.bytes;
      peak_bytes = std::max(peak_bytes, live_bytes + value.passing_bytes());
    }
    for (int value : step.evictions) {
      live_bytes -= request.values[static_cast<size_t>(value)].bytes;
    }
  }
  return peak_bytes;
}

int64_t PeakCount(const Schedule& schedule) {
  int64_t live = 0;
  int64_t peak = 0;
  for (const ScheduledStep& step : schedule.steps) {
    live += static_cast<int64_t>(step.loads.size());
    peak = std::max(peak, live);
    live -= static_cast<int64_t>(step.evictions.size());
  }
  return peak;
}

void SortLoads(const ScheduleRequest& request, std::vector<int>* loads) {
  std::stable_sort(
      loads->begin(), loads->end(), [&request](int left, int right) {
        return request.values[static_cast<size_t>(left)].passing_bytes() >
               request.values[static_cast<size_t>(right)].passing_bytes();
      });
}

int64_t PassingBytes(const ScheduleRequest& request,
                     const std::vector<int>& sorted_loads) {
  int64_t left_bytes = 0;
  int64_t peak_bytes = 0;
  for (int index : sorted_loads) {
    const PlannedValue& value = request.values[static_cast<size_t>(index)];
    left_bytes += value.bytes;
    peak_bytes = std::max(peak_bytes, left_bytes + value.passing_bytes());
  }
  return peak_bytes - left_bytes;
}

}  // namespace footprint
