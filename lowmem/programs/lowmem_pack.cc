// Rewrites a safetensors file with tensors at pages and matrices in panels.
//
//   lowmem_pack [--panels=PATTERN=COLUMNS,...] INPUT OUTPUT
//
// INPUT may be the index of a checkpoint in several files,
// model.safetensors.index.json.
//
// See pack.h. Exit codes are those of command_line.h: 0: OUTPUT is written. 1:
// it could not be, and what was there before is there still. 2: wrong usage.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/text/progress_bar.h"
#include "footprint/lowmem/checkpoints/pack.h"
#include "footprint/lowmem/programs/command_line.h"

ABSL_FLAG(std::vector<std::string>, panels, {},
          "Rules PATTERN=COLUMNS for matrices to be stored in column panels, "
          "the first that matches counts; instead of the rules for BERT, "
          "DistilBERT and GPT-2");
ABSL_FLAG(bool, no_panels, false,
          "Keep every matrix in its usual order, also those that have panels");

ABSL_FLAG(bool, force, false, "Replace an OUTPUT that is not INPUT");

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

int Fail(ExitCode code, const absl::Status& status) {
  return footprint::lowmem_internal::Fail("lowmem_pack", code, status);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_pack [--panels=PATTERN=COLUMNS,... | --no_panels] INPUT OUTPUT\n"
      "OUTPUT may be INPUT; another file is replaced with --force alone.\n"
      "OUTPUT is written beside itself under a hidden name,\n"
      ".OUTPUT.footprint-partial, and renamed when it is whole; what a killed\n"
      "run left of that name is removed.");
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
  // Who names a file twice wants it packed in place.
  const absl::Status free = footprint::lowmem_internal::CheckNotThere(
      arguments[2], absl::GetFlag(FLAGS_force) ||
                        footprint::IsSameFile(arguments[1], arguments[2]));
  if (!free.ok()) return Fail(ExitCode::kFailed, free);
  footprint::ProgressBar bar(stderr, "packing");
  options.progress = [&bar](int64_t done, int64_t total) {
    bar.Update(done, total);
  };
  const absl::Status packed =
      footprint::Pack(arguments[1], arguments[2], options);
  return packed.ok() ? 0 : Fail(ExitCode::kFailed, packed);
}
