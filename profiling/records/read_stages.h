// Reads the stages of one process image from the file that its agent wrote
// (stage_record.h).
//
//   MeasuredImage image;
//   absl::Status status = ReadStages("1234.0.stages", {peak, stage}, &image);
//   for (const StageFigures& stage : image.stages()) {
//     // stage.peak_live_bytes() were needed on top of what was there before
//   }
//
// The process may still run and write. The file is closed again. Thread-safe.
// Memory: 300 bytes a stage, and 272 more while it reads. Errors: those of
// FileError, kDataLoss for a file that is cut short, and kInvalidArgument for a
// file of another version or a damaged one. Parents always stand before their
// children, so users need not check that.

#ifndef FOOTPRINT_PROFILING_RECORDS_READ_STAGES_H_
#define FOOTPRINT_PROFILING_RECORDS_READ_STAGES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// The process's peak, which may belong to stages that were open at its end.
struct StagePeak {
  int64_t live_bytes = 0;
  uint32_t stage = 0;
};

// Adds the stages to `image`, of which the first stands for no stage. Adds
// notes in words about ends of stages that were not open, out of order or on
// another thread, stages that were left open, and visits and stages that found
// no room. After an error, `image` may have some of the stages.
absl::Status ReadStages(const std::string& path, const StagePeak& process_peak,
                        MeasuredImage* image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_READ_STAGES_H_
