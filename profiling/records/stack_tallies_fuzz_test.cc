// Reads arbitrary entries in an agent's file of samples.

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/profiling/records/file_patches.h"
#include "footprint/profiling/records/stack_tallies.h"
#include "footprint/profiling/records/stack_tallies_record.h"

namespace footprint {
namespace {

using profiling_internal::kStackTalliesMagic;
using profiling_internal::StackTalliesFile;

void ReadAnyFile(absl::string_view input) {
  const MemoryFile file("");
  BeginFile(kStackTalliesMagic, sizeof(StackTalliesFile), file);
  ApplyPatches(
      ParsePatches(input), /*first_part=*/0,
      {8, offsetof(StackTalliesFile, tallies), offsetof(StackTalliesFile, tree),
       offsetof(StackTalliesFile, tree.modules),
       offsetof(StackTalliesFile, tree.nodes)},
      file);
  const absl::StatusOr<StackTallies> tallies =
      ReadStackTallies(file.path(), "copies");
  if (!tallies.ok()) return RequireRefusal(tallies.status());
  for (const StackTallies::Tally& tally : tallies->tallies) {
    Require(tally.node >= CallTree::kNone &&
                tally.node < static_cast<int>(tallies->tree.nodes.size()),
            "a sample has a stack");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
