#include "footprint/lowmem/streaming/plan_growth.h"

#include "absl/strings/str_cat.h"

namespace footprint {

absl::Status CheckPlannedSize(int64_t tokens, int64_t positions, int workers) {
  if (tokens < 1) {
    return absl::InvalidArgumentError("no tokens: the input is empty");
  }
  if (tokens > positions) {
    return absl::InvalidArgumentError(absl::StrCat(
        tokens, " tokens, but the model has ", positions, " positions"));
  }
  if (workers < 1) {
    return absl::InvalidArgumentError(
        "no worker: at least one thread computes");
  }
  if (workers > kMostWorkers) {
    return absl::InvalidArgumentError(absl::StrCat(
        workers, " threads; from 1 to ", kMostWorkers, " compute"));
  }
  return absl::OkStatus();
}

}  // namespace footprint
