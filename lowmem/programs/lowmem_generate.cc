// Writes a checkpoint of a public model's shape with values from a seed.
//
//   lowmem_generate --shape=bert-large FOLDER
//   lowmem_generate --shape=gpt2 --layers=2 --vocabulary=1000 --dtype=BF16
//   FOLDER
//
// See checkpoint_generator.h. Exit codes are those of command_line.h. 0:
// config.json and model.safetensors are written. 1: they could not be written,
// or they exist and --force is not given. 2: wrong usage, or a shape that is
// not possible.

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "footprint/base/text/progress_bar.h"
#include "footprint/lowmem/checkpoints/checkpoint_generator.h"
#include "footprint/lowmem/checkpoints/checkpoint_shape.h"
#include "footprint/lowmem/programs/command_line.h"

ABSL_FLAG(std::string, shape, "minilm",
          absl::StrCat("the model whose shape is written: ",
                       absl::StrJoin(footprint::CheckpointShapeNames(), ", ")));
ABSL_FLAG(absl::optional<int64_t>, vocabulary, absl::nullopt,
          "number of words in the vocabulary; default: the shape's");
ABSL_FLAG(absl::optional<int64_t>, positions, absl::nullopt,
          "maximum number of positions; default: the shape's");
ABSL_FLAG(absl::optional<int64_t>, hidden, absl::nullopt,
          "features of a hidden state; default: the shape's");
ABSL_FLAG(absl::optional<int64_t>, layers, absl::nullopt,
          "number of layers; default: the shape's");
ABSL_FLAG(absl::optional<int64_t>, heads, absl::nullopt,
          "number of attention heads; default: the shape's");
ABSL_FLAG(absl::optional<int64_t>, key_value_heads, absl::nullopt,
          "number of key and value heads, only for decoders after GPT-2; "
          "default: the shape's");
ABSL_FLAG(
    absl::optional<int64_t>, head_features, absl::nullopt,
    "features of a head, only for decoders after GPT-2; default: the shape's");
ABSL_FLAG(absl::optional<int64_t>, intermediate, absl::nullopt,
          "features between the two products of a feed-forward block; default: "
          "the shape's");
ABSL_FLAG(std::string, dtype, "F32", "type of the values: F32, BF16 or F16");
ABSL_FLAG(uint64_t, seed, 1,
          "seed of the values; the same seed gives the same values");
ABSL_FLAG(bool, force, false, "replace the checkpoint in FOLDER");

namespace {

using footprint::lowmem_internal::ExitCode;

absl::StatusOr<footprint::CheckpointShape> ShapeFromFlags() {
  absl::StatusOr<footprint::CheckpointShape> shape =
      footprint::CheckpointShapeFromName(absl::GetFlag(FLAGS_shape));
  if (!shape.ok()) return shape;
  struct Replacement {
    const char* flag;
    absl::optional<int64_t> value;
    int64_t& extent;
  };
  const Replacement replacements[] = {
      {"vocabulary", absl::GetFlag(FLAGS_vocabulary), shape->vocabulary},
      {"positions", absl::GetFlag(FLAGS_positions), shape->positions},
      {"hidden", absl::GetFlag(FLAGS_hidden), shape->hidden},
      {"layers", absl::GetFlag(FLAGS_layers), shape->layers},
      {"heads", absl::GetFlag(FLAGS_heads), shape->heads},
      {"key_value_heads", absl::GetFlag(FLAGS_key_value_heads),
       shape->key_value_heads},
      {"head_features", absl::GetFlag(FLAGS_head_features),
       shape->head_features},
      {"intermediate", absl::GetFlag(FLAGS_intermediate), shape->intermediate}};
  for (const Replacement& replacement : replacements) {
    if (!replacement.value.has_value()) continue;
    if (*replacement.value < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", replacement.flag, "=", *replacement.value, ": at least 1"));
    }
    replacement.extent = *replacement.value;
  }
  return shape;
}

int Fail(ExitCode code, const absl::Status& status) {
  return footprint::lowmem_internal::Fail("lowmem_generate", code, status);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_generate [--shape=NAME] [--dtype=F32|BF16|F16] FOLDER\n"
      "Writes a checkpoint of a public model's shape with random values:\n"
      "config.json and model.safetensors in FOLDER. A flag such as --layers\n"
      "changes one number of the shape.");
  // Checks everything before a file is written.
  const std::vector<char*> arguments =
      footprint::lowmem_internal::ParseFlags(argc, argv);
  if (arguments.size() != 2) {
    return Fail(
        ExitCode::kWrongUsage,
        absl::InvalidArgumentError(absl::StrCat(
            "takes one FOLDER, got ", arguments.size() - 1, "; see --help")));
  }
  const absl::StatusOr<footprint::CheckpointShape> shape = ShapeFromFlags();
  if (!shape.ok()) return Fail(ExitCode::kWrongUsage, shape.status());
  const absl::optional<footprint::DType> dtype =
      footprint::DTypeFromName(absl::GetFlag(FLAGS_dtype));
  if (!dtype.has_value()) {
    return Fail(ExitCode::kWrongUsage,
                absl::InvalidArgumentError(
                    absl::StrCat("no dtype \"", absl::GetFlag(FLAGS_dtype),
                                 "\"; there are F32, BF16 and F16")));
  }
  const absl::Status possible =
      footprint::CheckpointTensors(*shape, *dtype).status();
  if (!possible.ok()) return Fail(ExitCode::kWrongUsage, possible);
  for (const char* name : {"config.json", "model.safetensors"}) {
    const absl::Status free = footprint::lowmem_internal::CheckNotThere(
        absl::StrCat(arguments[1], "/", name), absl::GetFlag(FLAGS_force));
    if (!free.ok()) return Fail(ExitCode::kFailed, free);
  }
  // Writes the checkpoint.
  footprint::ProgressBar bar(stderr, "generating");
  footprint::CheckpointOptions options;
  options.seed = absl::GetFlag(FLAGS_seed);
  options.dtype = *dtype;
  options.progress = [&bar](int64_t done, int64_t total) {
    bar.Update(done, total);
  };
  // The folder may exist. If it cannot be made, writing the files fails.
  struct stat folder;
  if (mkdir(arguments[1], 0777) != 0 && stat(arguments[1], &folder) == 0 &&
      !S_ISDIR(folder.st_mode)) {
    return Fail(ExitCode::kWrongUsage,
                absl::InvalidArgumentError(
                    absl::StrCat(arguments[1],
                                 " is a file; name a folder, which may be "
                                 "new")));
  }
  const absl::Status written =
      footprint::WriteCheckpoint(arguments[1], *shape, options);
  return written.ok() ? 0 : Fail(ExitCode::kFailed, written);
}
