#include "footprint/base/threads/fork_handlers.h"

#include <pthread.h>

#include <cstdlib>

namespace footprint {
namespace {

constexpr int kMostHandlers = 8;
ForkHandlers all[kMostHandlers];
int count = 0;

}  // namespace

void AddForkHandlers(const ForkHandlers& handlers) {
  if (count == kMostHandlers) std::abort();
  all[count++] = handlers;
  pthread_atfork(handlers.before, handlers.in_parent, handlers.in_child);
}

void CatchUpWithFork() {
  // Unlocks the locks, and then calls the handlers in the order of fork.
  for (int i = 0; i < count; ++i) {
    if (all[i].lock != nullptr) all[i].lock->ResetInChild();
  }
  for (int i = count - 1; i >= 0; --i) {
    if (all[i].before != nullptr) all[i].before();
  }
  for (int i = 0; i < count; ++i) {
    if (all[i].in_child != nullptr) all[i].in_child();
  }
}

}  // namespace footprint
