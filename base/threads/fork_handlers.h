// Handlers around a fork, kept so that a child can call them that came without:
// by _Fork, clone or the system call itself, which call no handlers.
//
//   constexpr ForkHandlers kHandlers = {&lock, Lock, Unlock, Unlock};
//   AddForkHandlers(kHandlers);  // before main, once
//   ...
//   if (fork_without_handlers() == 0) CatchUpWithFork();
//
// Allocates nothing. Thread-safety: AddForkHandlers is called before main;
// CatchUpWithFork by the only thread of the child. Handlers' locks must outlive
// the process. Memory: 32 bytes a set of handlers, of which there are at
// most 8.

#ifndef FOOTPRINT_BASE_THREADS_FORK_HANDLERS_H_
#define FOOTPRINT_BASE_THREADS_FORK_HANDLERS_H_

#include "footprint/base/threads/pthread_mutex.h"

namespace footprint {

// Handlers as pthread_atfork takes them; any may be null.
struct ForkHandlers {
  // Lock that `before` takes, and the other two give back.
  PthreadMutex* lock;
  void (*before)();
  void (*in_parent)();
  void (*in_child)();
};

void AddForkHandlers(const ForkHandlers& handlers);

// Called in the child: gives back each lock, whichever of the parent's threads
// held it when the child began, and calls the handlers that fork would have
// called here, in its order. State that such a thread was changing then may be
// half changed.
void CatchUpWithFork();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_THREADS_FORK_HANDLERS_H_
