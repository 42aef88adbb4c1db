#include "footprint/profiling/sites/current_stack.h"

#include "footprint/profiling/stacks/stack_end.h"

namespace footprint::profiling_internal {

int ReadCurrentStack(const StackFrame& innermost,
                     uintptr_t (&calls)[kMaxCalls]) {
  return UnwindStack(innermost, FindStackEnd(innermost.stack_pointer), calls,
                     kMaxCalls);
}

}  // namespace footprint::profiling_internal
