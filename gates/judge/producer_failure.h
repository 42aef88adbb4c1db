// Describes why there is no measurement, and what to do about it.
//
//   DescribeFailure(profile.failure());
//   // "gave no measurement: it was killed by signal 9 (often: out of
//   // memory); ..."
//
// Pure function, thread-safe; the text is a copy. Memory and time: linear in
// the message.

#ifndef FOOTPRINT_GATES_JUDGE_PRODUCER_FAILURE_H_
#define FOOTPRINT_GATES_JUDGE_PRODUCER_FAILURE_H_

#include <string>

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns one sentence and, on further lines, the end of the program's standard
// error.
std::string DescribeFailure(const ProducerFailure& failure);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_PRODUCER_FAILURE_H_
