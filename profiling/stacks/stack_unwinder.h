// The program counters of the calls that are under way in the calling thread,
// innermost first, fast enough for every allocation of a program.
//
//   uintptr_t pcs[128];
//   int count = UnwindStack(CallingFrame(), stack_end, pcs, 128);
//
// How to leave a frame is found once for each program counter (frame_rows.h)
// and remembered in a table of the process, so that a frame takes some 2 ns.
// Frames without call frame information, as a just-in-time compiler makes them,
// are left by their frame pointer if that points into the stack; else the stack
// ends there.
//
// Fills what the caller owns. Works inside malloc and in signal handlers: no
// allocation, no lock. Thread-safe. Memory: 256 KiB of static storage. x86-64
// only: elsewhere no frame is found.

#ifndef FOOTPRINT_PROFILING_STACKS_STACK_UNWINDER_H_
#define FOOTPRINT_PROFILING_STACKS_STACK_UNWINDER_H_

#include <cstdint>

namespace footprint::profiling_internal {

// The place where a thread is.
struct StackFrame {
  uintptr_t program_counter = 0;
  uintptr_t stack_pointer = 0;
  uintptr_t frame_pointer = 0;
  // The place is a return address, unless a signal interrupted there.
  bool is_return_address = true;
};

// The caller's own frame, once it has returned from here.
__attribute__((always_inline)) inline StackFrame CallingFrame() {
  StackFrame frame;
#ifdef __x86_64__
  asm volatile(
      "leaq 0(%%rip), %0\n\t"
      "movq %%rsp, %1\n\t"
      "movq %%rbp, %2\n\t"
      : "=r"(frame.program_counter), "=r"(frame.stack_pointer),
        "=r"(frame.frame_pointer));
#endif
  frame.is_return_address = false;
  return frame;
}

// Fills `pcs` with return addresses, but for the first if `innermost` is none;
// at most `capacity`. Returns their number. Addresses at or above `stack_end`
// are not read; 0: it is not known, then frames without information end the
// stack. `stack_pointers`, of the same capacity, gets the stack pointer of each
// call, so that what lies at one of them or above, and below the next, is the
// call's.
int UnwindStack(StackFrame innermost, uintptr_t stack_end, uintptr_t* pcs,
                int capacity, uintptr_t* stack_pointers = nullptr);

// Called after a shared object was unloaded: another may lie there next.
void ForgetFrameRows();

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STACKS_STACK_UNWINDER_H_
