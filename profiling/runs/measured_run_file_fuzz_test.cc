// Reads arbitrary bytes as a recorded run, as they are and with a correct
// checksum. All indices of a run that is accepted must be in range.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/base/testing/sealed_bytes.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/runs/measured_run_file.h"

namespace footprint {
namespace {

void FollowCall(const MeasuredRun& run, uint32_t call) {
  // 0 stands for no call, above the outermost. Parents have lower numbers, so
  // the loop ends.
  while (call != 0) {
    Require(call <= static_cast<uint32_t>(run.calls_size()), "a call exists");
    const Call& one = run.calls(static_cast<int>(call) - 1);
    Require(one.frame() < static_cast<uint32_t>(run.frames_size()),
            "a frame exists");
    Require(one.parent() < call, "a parent comes before its calls");
    call = one.parent();
  }
}

void ReadRun(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const absl::StatusOr<MeasuredRun> run = ReadMeasuredRunFile(file.path());
  if (!run.ok()) return RequireRefusal(run.status());
  for (const MeasuredImage& image : run->images()) {
    for (const SiteAmounts& site : image.sites()) FollowCall(*run, site.call());
    for (const CopyAmounts& copy : image.copies()) {
      FollowCall(*run, copy.call());
    }
    for (const ProcessorTime& time : image.processor_time()) {
      FollowCall(*run, time.call());
    }
    for (const SuspectedLeak& leak : image.suspected_leaks()) {
      FollowCall(*run, leak.call());
    }
    for (const TimelinePoint& point : image.timeline()) {
      Require(point.stage() == 0 ||
                  point.stage() < static_cast<uint32_t>(image.stages_size()),
              "a point's stage exists");
    }
  }
}

void ReadAnyFile(absl::string_view bytes) {
  ReadRun(bytes);
  ReadRun(SealedBytes(bytes, 15));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
