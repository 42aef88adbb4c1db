// Judges for `memprof --limit=BYTES` whether each process of a run fits the
// limit.
//
//   const LimitJudgement judgement = JudgeLimit(run, int64_t{64} << 20);
//   std::cerr << judgement.text;
//   return judgement.exit_status;
//
// The peak heap of each process is judged; for a fork, the part above its
// parent's. A process whose heap explains too little of its memory
// (unaccounted_memory.h) is judged by its resident set instead, and the text
// says so. A run in which some memory was not counted is not judged.
//
// Pure; thread-safe. The judgement owns its text. Memory: the text.

#ifndef FOOTPRINT_PROFILING_MEMPROF_JUDGE_LIMIT_H_
#define FOOTPRINT_PROFILING_MEMPROF_JUDGE_LIMIT_H_

#include <cstdint>
#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

struct LimitJudgement {
  // 0 if each process fits, 1 if one does not, 3 if the program failed or not
  // all memory was counted.
  int exit_status = 0;
  // Whole lines for standard error.
  std::string text;
};

LimitJudgement JudgeLimit(const MeasuredRun& run, int64_t limit_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_JUDGE_LIMIT_H_
