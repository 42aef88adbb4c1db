// Parses any bytes as a file of another tool: they are refused with a message,
// or give figures that make a profile.

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/importing/foreign_figures.h"
#include "footprint/gates/importing/foreign_file.h"
#include "footprint/gates/importing/heap_profile.h"

namespace footprint {
namespace {

void CheckFigures(const absl::StatusOr<ForeignFigures>& figures) {
  if (!figures.ok()) {
    Require(!figures.status().message().empty(), "a refusal has a text");
    return;
  }
  Require(!figures->tool.empty(), "figures are of a tool");
  Require(!figures->peaks.empty(), "there is a figure");
  for (const ForeignPeak& peak : figures->peaks) {
    Require(peak.bytes >= 0, "no figure is below zero");
  }
  const MemoryProfile profile = ProfileOfFigures(*figures, "//a:b", "serve");
  Require(profile.benchmarks_size() > 0, "a profile has a benchmark");
}

void ParseAnyFile(absl::string_view bytes) {
  CheckFigures(ParseForeignFile(bytes));
  // A fuzzer hardly finds valid compressed profiles, so this tests their
  // content.
  CheckFigures(ParseHeapProfileMessage(bytes));
  // A fuzzer hardly finds valid JSON, so this tests a number in it.
  CheckFigures(ParseForeignFile(absl::StrCat(
      "{\"benchmarks\": [{\"name\": \"a\", \"max_bytes_used\": ", bytes,
      "}]}")));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyFile)

}  // namespace footprint
