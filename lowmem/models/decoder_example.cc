// The example of README.md:
//
//   bazel run //lowmem/models:decoder_example --
//   $PWD/lowmem/models/testdata/golden_gpt2

#include <cstdint>
#include <iostream>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace {

// region generate
// Ten tokens after the prompt, in at most 64 MiB.
absl::Status PrintNext(const char* folder, const std::vector<int32_t>& prompt) {
  const auto decoder =
      footprint::Decoder::Open(folder, footprint::WeightBackend::kPread);
  if (!decoder.ok()) return decoder.status();
  const auto plan = (*decoder)->Plan(static_cast<int64_t>(prompt.size()) + 10,
                                     /*workers=*/2, /*budget_bytes=*/64 << 20);
  if (!plan.ok()) return plan.status();
  const auto run = (*decoder)->Start(*plan);
  if (!run.ok()) return run.status();
  return footprint::GenerateGreedily(
      **run, prompt, /*count=*/10,
      [](int32_t id) { std::cout << id << std::endl; });
}
// endregion

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status =
      argc == 2 ? PrintNext(argv[1], {3, 1, 4, 1, 5})
                : absl::InvalidArgumentError("usage: decoder_example FOLDER");
  if (status.ok()) return footprint::FinishStandardOutput("decoder_example");
  std::cerr << status << "\n";
  return 1;
}
