// Children that come without fork and its handlers: by _Fork, by clone with
// memory of their own, or by the system call itself, as sandboxes start them.
// Each catches up with the work of a fork's handlers, or its figures would go
// to its parent's record. Calls for a child that shares memory (a thread, a
// vfork) are passed on.
//
// A child by a system call in the program's own assembly is not seen here, nor
// one by syscall() that begins on another stack.

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "footprint/base/threads/fork_handlers.h"

namespace footprint::profiling_internal {
namespace {

using ForkFunction = pid_t();
using CloneFunction = int(int (*)(void*), void*, int, void*, ...);

// Looked up before main, because signal handlers may call them.
ForkFunction* next_fork = nullptr;
CloneFunction* next_clone = nullptr;

__attribute__((constructor(101))) void FindNext() {
  next_fork = reinterpret_cast<ForkFunction*>(dlsym(RTLD_NEXT, "_Fork"));
  next_clone = reinterpret_cast<CloneFunction*>(dlsym(RTLD_NEXT, "clone"));
}

void CatchUp() {
  const int error = errno;
  CatchUpWithFork();
  errno = error;
}

// The argument of the child's function; the child has a copy.
struct Begin {
  int (*function)(void*);
  void* argument;
};

int RunAfterCatchingUp(void* begin) {
  const Begin copy = *static_cast<Begin*>(begin);
  CatchUp();
  return copy.function(copy.argument);
}

}  // namespace
}  // namespace footprint::profiling_internal

extern "C" {

pid_t _Fork() noexcept {
  using footprint::profiling_internal::CatchUp;
  using footprint::profiling_internal::FindNext;
  using footprint::profiling_internal::next_fork;
  if (next_fork == nullptr) FindNext();
  const pid_t process = next_fork();
  if (process == 0) CatchUp();
  return process;
}

int clone(int (*function)(void*), void* stack, int flags, void* argument,
          ...) noexcept {
  using footprint::profiling_internal::Begin;
  using footprint::profiling_internal::FindNext;
  using footprint::profiling_internal::next_clone;
  using footprint::profiling_internal::RunAfterCatchingUp;
  if (next_clone == nullptr) FindNext();
  va_list more;
  va_start(more, argument);
  void* const parent_thread = va_arg(more, void*);
  void* const storage = va_arg(more, void*);
  void* const child_thread = va_arg(more, void*);
  va_end(more);
  Begin begin = {function, argument};
  if ((flags & CLONE_VM) != 0 || function == nullptr) {
    return next_clone(function, stack, flags, argument, parent_thread, storage,
                      child_thread);
  }
  return next_clone(RunAfterCatchingUp, stack, flags, &begin, parent_thread,
                    storage, child_thread);
}

#if defined(__x86_64__)

__attribute__((visibility("hidden"))) long footprint_failed_call(long error) {
  errno = static_cast<int>(-error);
  return -1;
}

// Makes a process that goes on here, with memory of its own.
__attribute__((visibility("hidden"))) long footprint_forking_call(
    long number, long first, long second, long third, long fourth, long fifth) {
  register long r10 asm("r10") = fourth;
  register long r8 asm("r8") = fifth;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  if (result < 0) return footprint_failed_call(result);
  if (result == 0) footprint::profiling_internal::CatchUp();
  return result;
}

// It has no frame, like the C library's: a child that shares memory may return
// to its caller before the parent does.
static_assert(SYS_clone == 56 && SYS_fork == 57 && SYS_clone3 == 435);
static_assert(CLONE_VM == 0x100);
asm(R"(
  .text
  .p2align 4
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  cmpq $56, %rdi
  je 2f
  cmpq $57, %rdi
  je footprint_forking_call
  cmpq $435, %rdi
  je 3f
1:
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  cmpq $-4095, %rax
  jae 4f
  ret
2: # clone: its flags, and the child's stack
  testq $0x100, %rsi
  jne 1b
  testq %rdx, %rdx
  jne 1b
  jmp footprint_forking_call
3: # clone3: its first argument has them
  testq %rsi, %rsi
  je 1b
  testq $0x100, (%rsi)
  jne 1b
  cmpq $0, 40(%rsi)
  jne 1b
  jmp footprint_forking_call
4:
  movq %rax, %rdi
  jmp footprint_failed_call
  .cfi_endproc
  .size syscall, .-syscall
)");

#endif

}  // extern "C"
