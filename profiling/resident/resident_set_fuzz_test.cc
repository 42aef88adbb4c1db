// Classifies arbitrary text as the kernel's list of a process's mappings.

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {
namespace {

void ClassifyAnyMappings(absl::string_view text) {
  const KnownRanges ranges = {
      {{0x10000000, 0x10008000}, {0x20000000, 0x20001000}},
      {{0x30000000, 0x30008000}}};
  const ResidentSet parts =
      ClassifyMappings(text, ranges, "/tmp/memprof-1", [&](AddressRange range) {
        Require(range.begin < range.end, "a range is not empty");
        bool is_within = false;
        for (const auto* known : {&ranges.mapped, &ranges.agent}) {
          for (const AddressRange& one : *known) {
            is_within |= one.begin <= range.begin && range.end <= one.end;
          }
        }
        Require(is_within, "only known ranges are looked at");
        return static_cast<int64_t>(range.end - range.begin);
      });
  for (const auto& [path, pages] : parts.files) {
    Require(!path.empty() && path[0] == '/', "a file has a path");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ClassifyAnyMappings)

}  // namespace footprint
