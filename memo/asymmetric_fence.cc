#include "footprint/memo/asymmetric_fence.h"

#include <cstdio>
#include <cstdlib>

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace footprint::memo_internal {
namespace {

#if defined(__linux__) && !defined(FOOTPRINT_MEMO_THREAD_SANITIZER)
bool Membarrier(int command) {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool RegisterFastFence() {
  return Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
         Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
bool RegisterFastFence() { return false; }
#endif

// Heavy is then a system call.
std::atomic<bool> fast_fence_is_chosen{false};

}  // namespace

FenceKind ChooseFence() {
  static const bool is_registered = [] {
    const bool registered = RegisterFastFence();
    fast_fence_is_chosen.store(registered);
    return registered;
  }();
  return is_registered && fast_fence_is_chosen.load()
             ? FenceKind::kMembarrier
             : FenceKind::kSequentiallyConsistent;
}

void ForceSequentiallyConsistentFenceForTesting() {
  ChooseFence();
  fast_fence_is_chosen.store(false);
}

#ifndef FOOTPRINT_MEMO_THREAD_SANITIZER
void AsymmetricFence::Heavy() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!fast_fence_is_chosen.load(std::memory_order_relaxed)) return;
#ifdef __linux__
  if (Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  // A sandbox was entered after the fence had been chosen; readers rely on it.
  std::fprintf(stderr,
               "memo: the kernel granted membarrier and now refuses it, so "
               "pinned values can no longer be told from free ones. Enter the "
               "sandbox before the first memo is made.\n");
  std::abort();
#endif
}
#endif

}  // namespace footprint::memo_internal
