// Adds to a verdict why figures are above their limits: the phase in which a
// figure is highest, the holders of the bytes, and whether it is a leak. With
// earlier profiles it says instead what grew, if anything did.
//
//   Verdict verdict = Judge(input, options);
//   ExplainRejections(input, before, &verdict);
//
// The reasons become the explanations of judgements that reject or warn, have a
// figure above the limit, and have no explanation yet. Thread-safe; the verdict
// owns the texts. Memory: a few lines for each rejection. Time: linear in the
// rejected profiles.

#ifndef FOOTPRINT_GATES_EXPLAINING_REJECTION_REASONS_H_
#define FOOTPRINT_GATES_EXPLAINING_REJECTION_REASONS_H_

#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Writes the explanations. If `before` is empty, they do not mention growth.
void ExplainRejections(const GateInput& input,
                       absl::Span<const MemoryProfile> before,
                       Verdict* verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_REJECTION_REASONS_H_
