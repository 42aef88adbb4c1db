// Rewrites a safetensors file: each tensor begins at a page and matrices are
// stored in column panels, or matrices are quantised.
//
//   lowmem_pack [--panels=PATTERN=COLUMNS,...] INPUT OUTPUT
//   lowmem_pack --quantize=q4_0 MODEL_DIR/model.safetensors OTHER/model.gguf
//
// INPUT may be the index of a checkpoint in several files,
// model.safetensors.index.json.
//
// See pack.h and quantise.h. Exit codes are those of command_line.h. 0: OUTPUT
// is written. 1: it could not be written, and an earlier file is unchanged. 2:
// wrong usage.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/text/progress_bar.h"
#include "footprint/lowmem/checkpoints/pack.h"
#include "footprint/lowmem/checkpoints/quantise.h"
#include "footprint/lowmem/programs/command_line.h"

ABSL_FLAG(std::vector<std::string>, panels, {},
          "rules PATTERN=COLUMNS, separated by commas, for the matrices to "
          "store in column panels; the first rule that matches a matrix "
          "counts, and 0 columns keep its usual order; default: rules for "
          "BERT, DistilBERT, GPT-2, and Llama and "
          "later families");
ABSL_FLAG(bool, no_panels, false,
          "store every matrix in its usual order, also one that INPUT stores "
          "in panels");

ABSL_FLAG(std::string, quantize, "",
          "q8_0 or q4_0: write a GGUF file with matrices of this type, which "
          "has 0.53 or 0.28 of a BF16 file's size; name it model.gguf and put "
          "it beside config.json and tokenizer.json");

ABSL_FLAG(bool, force, false,
          "replace OUTPUT if it exists; packing INPUT in place does not need "
          "this");

namespace {

using footprint::lowmem_internal::ExitCode;

absl::Status Configure(footprint::PackOptions& options) {
  const std::vector<std::string> texts = absl::GetFlag(FLAGS_panels);
  if (absl::GetFlag(FLAGS_no_panels)) {
    if (texts.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--panels and --no_panels are both given; leave one out");
  }
  if (texts.empty())
    options.column_blocks = footprint::DefaultColumnBlockRules();
  for (const std::string& text : texts) {
    absl::StatusOr<footprint::ColumnBlockRule> rule =
        footprint::ParseColumnBlockRule(text);
    if (!rule.ok()) return rule.status();
    options.column_blocks.push_back(*std::move(rule));
  }
  return absl::OkStatus();
}

// Returns the requested type, or nothing if the flag is empty.
absl::StatusOr<absl::optional<footprint::DType>> QuantisedType() {
  const std::string name = absl::GetFlag(FLAGS_quantize);
  if (name.empty()) return absl::optional<footprint::DType>();
  if (absl::GetFlag(FLAGS_no_panels) || !absl::GetFlag(FLAGS_panels).empty()) {
    return absl::InvalidArgumentError(
        "--quantize goes without --panels and --no_panels, since quantised "
        "rows are not cut into panels");
  }
  const auto type = footprint::ParseQuantisedType(name);
  if (!type.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--quantize: ", type.status().message()));
  }
  return absl::make_optional(*type);
}

absl::Status Rewrite(const std::string& input, const std::string& output,
                     const footprint::PackOptions& pack,
                     absl::optional<footprint::DType> type) {
  footprint::ProgressBar bar(stderr,
                             type.has_value() ? "quantising" : "packing");
  const auto progress = [&bar](int64_t done, int64_t total) {
    bar.Update(done, total);
  };
  if (type.has_value()) {
    footprint::QuantiseOptions options;
    options.type = *type;
    options.progress = progress;
    return footprint::Quantise(input, output, options);
  }
  footprint::PackOptions options = pack;
  options.progress = progress;
  return footprint::Pack(input, output, options);
}

int Fail(ExitCode code, const absl::Status& status) {
  return footprint::lowmem_internal::Fail("lowmem_pack", code, status);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_pack [--panels=PATTERN=COLUMNS,... | --no_panels] INPUT OUTPUT\n"
      "lowmem_pack --quantize=q8_0|q4_0 INPUT OUTPUT\n"
      "Rewrites a safetensors file so that it is read faster, or quantises\n"
      "its matrices. INPUT may be model.safetensors.index.json of a model in\n"
      "several files.\n"
      "OUTPUT may be INPUT, unless --quantize is given. Another file that\n"
      "exists is replaced only with --force.\n"
      "The program writes .OUTPUT.footprint-partial in the same folder and\n"
      "renames it when it is complete. The next run removes the partial file\n"
      "that a killed run left.");
  const std::vector<char*> arguments =
      footprint::lowmem_internal::ParseFlags(argc, argv);
  if (arguments.size() != 3) {
    return Fail(ExitCode::kWrongUsage,
                absl::InvalidArgumentError(
                    absl::StrCat("takes INPUT and OUTPUT, got ",
                                 arguments.size() - 1, " paths; see --help")));
  }
  footprint::PackOptions options;
  const absl::Status configured = Configure(options);
  if (!configured.ok()) return Fail(ExitCode::kWrongUsage, configured);
  const auto type = QuantisedType();
  if (!type.ok()) return Fail(ExitCode::kWrongUsage, type.status());
  // A user who names one file twice wants to pack it in place.
  const absl::Status free = footprint::lowmem_internal::CheckNotThere(
      arguments[2], absl::GetFlag(FLAGS_force) ||
                        footprint::IsSameFile(arguments[1], arguments[2]));
  if (!free.ok()) return Fail(ExitCode::kFailed, free);
  const absl::Status packed =
      Rewrite(arguments[1], arguments[2], options, *type);
  return packed.ok() ? 0 : Fail(ExitCode::kFailed, packed);
}
