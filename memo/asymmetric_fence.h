// A pair of memory fences, of which the frequent one is nearly free.
//
//   // Often, on a thread for which ChooseFence returned kMembarrier:
//   pins = pins + 1;
//   AsymmetricFence::Light();  // any other thread: Full()
//   value = published;
//
//   // Rarely:
//   published = nullptr;
//   AsymmetricFence::Heavy();
//   count = pins;
//
// At least one of two threads that run these lines sees what the other wrote.
// On Linux `Heavy` asks the kernel (membarrier) to run a fence on every
// processor of the process, so that `Light` need only hold back the compiler.
// If the kernel refuses, use `Full`, a sequentially consistent fence that is
// correct everywhere. If the kernel first grants membarrier and refuses it
// later, for example since the process entered a sandbox, `Heavy` prints why
// and ends the process.
//
// Thread-safe. Owns nothing. Memory: no heap memory. Time: `Light` is free,
// `Full` takes about 5 ns, `Heavy` 0.5 to 10 us.

#ifndef FOOTPRINT_MEMO_ASYMMETRIC_FENCE_H_
#define FOOTPRINT_MEMO_ASYMMETRIC_FENCE_H_

#include <atomic>

#if defined(__SANITIZE_THREAD__)
#define FOOTPRINT_MEMO_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FOOTPRINT_MEMO_THREAD_SANITIZER 1
#endif
#endif

namespace footprint::memo_internal {

enum class FenceKind { kSequentiallyConsistent, kMembarrier };

// Asks the kernel for the fast fence, once per process; later calls return the
// same choice. Under ThreadSanitizer, which does not know membarrier, the
// result is always kSequentiallyConsistent.
FenceKind ChooseFence();

// Makes ChooseFence answer as on a kernel without membarrier, from now on, for
// tests. Threads that got another answer must not rely on a fence again.
void ForceSequentiallyConsistentFenceForTesting();

struct AsymmetricFence {
#ifdef FOOTPRINT_MEMO_THREAD_SANITIZER
  // ThreadSanitizer knows no fences, only the memory orders of the operations.
  static constexpr std::memory_order kStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kLoad = std::memory_order_seq_cst;
  static void Light() {}
  static void Full() {}
  static void Heavy() {}
#else
  static constexpr std::memory_order kStore = std::memory_order_release;
  static constexpr std::memory_order kLoad = std::memory_order_acquire;
  static void Light() { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void Full() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void Heavy();
#endif
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_ASYMMETRIC_FENCE_H_
