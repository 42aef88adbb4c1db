#include "footprint/gates/server/utc_time.h"

#include "absl/time/time.h"

namespace footprint {

std::string FormatUtcTime(int64_t unix_seconds) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                          absl::FromUnixSeconds(unix_seconds),
                          absl::UTCTimeZone());
}

}  // namespace footprint
