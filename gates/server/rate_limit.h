// Limits the rate of each name's requests: a burst of `most_at_once`, then
// `per_second` requests a second (a token bucket).
//
//   RateLimit limit(/*most_at_once=*/100, /*per_second=*/50);
//   const double wait_seconds = limit.Take("ci", now_seconds);
//   if (wait_seconds > 0) return TooMany(wait_seconds);
//
// If the clock jumps back, no credit is lost, and time counts from there.
//
// Thread-safe; names are copied. Memory: 100 bytes for each name, never freed:
// names are those of tokens, so strangers cannot add any.

#ifndef FOOTPRINT_GATES_SERVER_RATE_LIMIT_H_
#define FOOTPRINT_GATES_SERVER_RATE_LIMIT_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

class RateLimit {
 public:
  RateLimit(double most_at_once, double per_second)
      : most_at_once_(most_at_once), per_second_(per_second) {}

  // Returns 0 and counts the request if it is allowed now. Otherwise returns
  // the seconds until it is.
  double Take(const std::string& name, double now_seconds)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Left {
    double count = 0;
    double at_seconds = 0;
  };
  double CountAt(const Left& left, double now_seconds) const;

  const double most_at_once_;
  const double per_second_;
  Mutex mutex_;
  std::map<std::string, Left> left_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_RATE_LIMIT_H_
