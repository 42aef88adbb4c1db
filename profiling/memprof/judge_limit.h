// The judgement of a run under `memprof --limit=BYTES`.
//
//   const LimitJudgement judgement = JudgeLimit(run, int64_t{64} << 20);
//   std::cerr << judgement.text;
//   return judgement.exit_status;
//
// The peak heap of each process is judged, of a fork beyond what its parent
// had. A process whose heap tells of less than half of its memory
// (unaccounted_memory.h) is judged by its resident set instead, and the text
// says so. Nothing is accepted that was not counted.
//
// Pure; thread-safe. The judgement owns its text. Memory: the text.

#ifndef FOOTPRINT_PROFILING_MEMPROF_JUDGE_LIMIT_H_
#define FOOTPRINT_PROFILING_MEMPROF_JUDGE_LIMIT_H_

#include <cstdint>
#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

struct LimitJudgement {
  // 0: each process fits; 1: one does not; 3: nothing can be judged.
  int exit_status = 0;
  // Whole lines for standard error.
  std::string text;
};

LimitJudgement JudgeLimit(const MeasuredRun& run, int64_t limit_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_JUDGE_LIMIT_H_
