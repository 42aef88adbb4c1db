// Finds the program counters of the calls that are active in the calling
// thread, innermost first, fast enough for every allocation of a program.
//
//   uintptr_t pcs[128];
//   int count = UnwindStack(CallingFrame(), stack_end, pcs, 128);
//
// A row (frame_rows.h) says how to leave the frame of a program counter. A
// table of the process caches the rows by program counter, so that a frame
// takes some 2 ns. Frames without call frame information, as just-in-time
// compilers make them, are left by their frame pointer if that points into the
// stack; otherwise the stack ends there.
//
// Fills arrays that the caller owns. Works inside malloc and in signal
// handlers: it allocates nothing and takes no lock. Thread-safe. Memory: 256
// KiB of static storage. x86-64 only; elsewhere no caller is found.

#ifndef FOOTPRINT_PROFILING_STACKS_STACK_UNWINDER_H_
#define FOOTPRINT_PROFILING_STACKS_STACK_UNWINDER_H_

#include <cstdint>

namespace footprint::profiling_internal {

// The position of a thread.
struct StackFrame {
  uintptr_t program_counter = 0;
  uintptr_t stack_pointer = 0;
  uintptr_t frame_pointer = 0;
  // True if the program counter is a return address. False if it is the place
  // where the thread is now, or where a signal interrupted it.
  bool is_return_address = true;
};

// Returns the frame of the function that calls this one, at the place of the
// call.
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

// Fills `pcs` with at most `capacity` program counters, and returns their
// number. All are return addresses, except the first if `innermost` is not one,
// and those at which a signal interrupted the thread. Addresses at or above
// `stack_end` are not read, until the walk leaves a signal handler for another
// stack. If `stack_end` is 0, it is unknown, and frames without information end
// the stack. `stack_pointers`, of the same capacity, gets the stack pointer of
// each call: memory from it up to the next one belongs to the call.
int UnwindStack(StackFrame innermost, uintptr_t stack_end, uintptr_t* pcs,
                int capacity, uintptr_t* stack_pointers = nullptr);

// Clears the table. Call it after a shared object was unloaded, because another
// may be loaded at its addresses.
void ForgetFrameRows();

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STACKS_STACK_UNWINDER_H_
