// Reads arbitrary entries in an agent's file of stages.

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/profiling/records/file_patches.h"
#include "footprint/profiling/records/read_stages.h"
#include "footprint/profiling/records/stage_record.h"

namespace footprint {
namespace {

using profiling_internal::kStageMagic;
using profiling_internal::StageFile;

void RequireRight(const MemoryFile& file, uint32_t peak_stage) {
  MeasuredImage image;
  const absl::Status status =
      ReadStages(file.path(), {/*live_bytes=*/1 << 20, peak_stage}, &image);
  if (!status.ok()) return RequireRefusal(status);
  Require(!image.stages().empty(), "the first is no stage");
  for (int i = 0; i < image.stages_size(); ++i) {
    Require(image.stages(i).parent() <= static_cast<uint32_t>(i),
            "a stage is inside of earlier ones");
  }
}

void ReadAnyFile(absl::string_view input) {
  if (input.empty()) return;
  const MemoryFile file("");
  BeginFile(kStageMagic, sizeof(StageFile), file);
  ApplyPatches(ParsePatches(input.substr(1)), /*first_part=*/0,
               {8, offsetof(StageFile, stages)}, file);
  // The peak's stage comes from another file, which may also be damaged.
  RequireRight(file, static_cast<unsigned char>(input[0]));
  RequireRight(file, ~uint32_t{0});
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
