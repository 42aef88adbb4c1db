// Writes a checkpoint of a public model's shape with values from a seed.
//
//   lowmem_generate --shape=bert-large FOLDER
//   lowmem_generate --shape=gpt2 --layers=2 --vocabulary=1000 --dtype=BF16
//   FOLDER
//
// See checkpoint_generator.h. Exit 0: config.json and model.safetensors are
// written. 1: they could not be. 2: wrong usage.

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoint_generator.h"
#include "footprint/lowmem/progress_bar.h"

ABSL_FLAG(std::string, shape, "minilm",
          "bert-base, bert-large, bert-large-multilingual, minilm, distilbert, "
          "gpt2, gpt2-medium, gpt2-large or gpt2-xl");
ABSL_FLAG(int64_t, vocabulary, 0, "Instead of the shape's, if above 0");
ABSL_FLAG(int64_t, positions, 0, "Instead of the shape's, if above 0");
ABSL_FLAG(int64_t, hidden, 0, "Instead of the shape's, if above 0");
ABSL_FLAG(int64_t, layers, 0, "Instead of the shape's, if above 0");
ABSL_FLAG(int64_t, heads, 0, "Instead of the shape's, if above 0");
ABSL_FLAG(int64_t, intermediate, 0, "Instead of the shape's, if above 0");
ABSL_FLAG(std::string, dtype, "F32", "F32, BF16 or F16");
ABSL_FLAG(uint64_t, seed, 1, "Another seed, other values");

namespace {

void Replace(int64_t flag, int64_t& extent) {
  if (flag > 0) extent = flag;
}

int Fail(int code, const absl::Status& status) {
  fprintf(stderr, "lowmem_generate: %s\n", status.ToString().c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("[--shape=NAME] [--dtype=...] FOLDER");
  const std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  if (arguments.size() != 2) {
    return Fail(2, absl::InvalidArgumentError(
                       absl::StrCat("takes one FOLDER, got ",
                                    arguments.size() - 1, "; see --help")));
  }
  absl::StatusOr<footprint::CheckpointShape> shape =
      footprint::CheckpointShapeFromName(absl::GetFlag(FLAGS_shape));
  if (!shape.ok()) return Fail(2, shape.status());
  Replace(absl::GetFlag(FLAGS_vocabulary), shape->vocabulary);
  Replace(absl::GetFlag(FLAGS_positions), shape->positions);
  Replace(absl::GetFlag(FLAGS_hidden), shape->hidden);
  Replace(absl::GetFlag(FLAGS_layers), shape->layers);
  Replace(absl::GetFlag(FLAGS_heads), shape->heads);
  Replace(absl::GetFlag(FLAGS_intermediate), shape->intermediate);
  const absl::optional<footprint::DType> dtype =
      footprint::DTypeFromName(absl::GetFlag(FLAGS_dtype));
  if (!dtype.has_value()) {
    return Fail(2, absl::InvalidArgumentError(
                       absl::StrCat("no dtype \"", absl::GetFlag(FLAGS_dtype),
                                    "\"; there are F32, BF16 and F16")));
  }
  footprint::ProgressBar bar(stderr, "generating");
  footprint::CheckpointOptions options;
  options.seed = absl::GetFlag(FLAGS_seed);
  options.dtype = *dtype;
  options.progress = [&bar](int64_t done, int64_t total) {
    bar.Update(done, total);
  };
  mkdir(arguments[1], 0777);  // may be there; if it cannot be, writing says so
  const absl::Status written =
      footprint::WriteCheckpoint(arguments[1], *shape, options);
  return written.ok() ? 0 : Fail(1, written);
}
