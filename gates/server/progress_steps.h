// Says how far a work is, for people who wait: after two seconds, and then
// every two seconds.
//
//   ProgressSteps packing("packing", report_step, ProgressSteps::Now);
//   for (...) packing.Note(packed_bytes, all_bytes);
//   // "packing: 1.20 GiB of 3.90 GiB"
//
// Thread-compatible. Memory: the texts. Time: that of the clock.

#ifndef FOOTPRINT_GATES_SERVER_PROGRESS_STEPS_H_
#define FOOTPRINT_GATES_SERVER_PROGRESS_STEPS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

class ProgressSteps {
 public:
  using Report = std::function<void(absl::string_view step)>;
  // Returns the milliseconds since some moment.
  using Clock = std::function<int64_t()>;

  // The clock of this machine.
  static int64_t Now();

  // The work begins now. `report` may be empty.
  ProgressSteps(std::string work, Report report, Clock clock);

  // Says that so many of all bytes are done, if it is time for it. `all_bytes`
  // is 0 if it is not known.
  void Note(int64_t done_bytes, int64_t all_bytes);

 private:
  const std::string work_;
  const Report report_;
  const Clock clock_;
  int64_t next_milliseconds_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_PROGRESS_STEPS_H_
