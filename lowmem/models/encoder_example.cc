// The example of README.md:
//
//   bazel run //lowmem/models:encoder_example --
//   $PWD/lowmem/models/testdata/golden_bert

#include <cstdint>
#include <iostream>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace {

// region encode
// The first feature of the first token's last state, in at most 2 MiB.
absl::Status PrintFirst(const char* folder, const std::vector<int32_t>& ids) {
  const auto encoder =
      footprint::Encoder::Open(folder, footprint::WeightBackend::kPread);
  if (!encoder.ok()) return encoder.status();
  const auto plan = (*encoder)->Plan(static_cast<int64_t>(ids.size()),
                                     /*workers=*/2, /*budget_bytes=*/2 << 20);
  if (!plan.ok()) return plan.status();
  const auto run = (*encoder)->Start(*plan);
  if (!run.ok()) return run.status();
  const auto states = (*run)->Forward(ids, /*token_types=*/{});
  if (!states.ok()) return states.status();
  std::cout << (*states)[0] << " in " << plan->peak_bytes << " bytes\n";
  return absl::OkStatus();
}
// endregion

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status =
      argc == 2 ? PrintFirst(argv[1], {3, 1, 4, 1, 5})
                : absl::InvalidArgumentError("usage: encoder_example FOLDER");
  if (status.ok()) return footprint::FinishStandardOutput("encoder_example");
  std::cerr << status << "\n";
  return 1;
}
