#include "footprint/memo/asymmetric_fence.h"

#include <cstdio>
#include <cstdlib>

#include "footprint/base/memory/membarrier.h"

namespace footprint::memo_internal {
namespace {

#ifdef FOOTPRINT_MEMO_THREAD_SANITIZER
bool RegisterFastFence() { return false; }
#else
bool RegisterFastFence() { return RegisterMembarrier() && Membarrier(); }
#endif

// If true, Heavy is a system call.
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
  if (Membarrier()) return;
  // The process entered a sandbox after it chose the fence, and readers rely on
  // the fence.
  std::fprintf(stderr,
               "memo: the kernel granted membarrier and now refuses it, so "
               "pinned values can no longer be told from free ones. Enter the "
               "sandbox before the first memo is made.\n");
  std::abort();
}
#endif

}  // namespace footprint::memo_internal
