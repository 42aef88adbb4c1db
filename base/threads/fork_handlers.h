// Registers handlers around a fork, and stores them, so that a child that began
// without them can call them: _Fork, clone and the system call itself call no
// handlers.
//
//   constexpr ForkHandlers kHandlers = {&lock, Lock, Unlock, Unlock};
//   AddForkHandlers(kHandlers);  // before main, once
//   ...
//   if (fork_without_handlers() == 0) CatchUpWithFork();
//
// Allocates nothing. Thread-safety: call AddForkHandlers before main, and
// CatchUpWithFork on the only thread of the child. Handlers' locks must outlive
// the process. Memory: 32 bytes per set of handlers, of which there are at most
// 8.

#ifndef FOOTPRINT_BASE_THREADS_FORK_HANDLERS_H_
#define FOOTPRINT_BASE_THREADS_FORK_HANDLERS_H_

#include "footprint/base/threads/pthread_mutex.h"

namespace footprint {

// Handlers in the form of pthread_atfork's; any may be null.
struct ForkHandlers {
  // The lock that `before` takes and that the other two release.
  PthreadMutex* lock;
  void (*before)();
  void (*in_parent)();
  void (*in_child)();
};

// Registers the handlers with pthread_atfork, and stores them. Ends the process
// if 8 sets are stored already.
void AddForkHandlers(const ForkHandlers& handlers);

// Releases each lock, whichever of the parent's threads held it when the child
// began; data that this thread was changing may be half changed. Then calls
// each `before`, and after them each `in_child`, in the order of fork. Call it
// in the child.
void CatchUpWithFork();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_THREADS_FORK_HANDLERS_H_
