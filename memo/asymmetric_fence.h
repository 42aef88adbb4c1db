// A pair of memory fences of which the frequent one is nearly free.
//
//   pins = pins + 1;   AsymmetricFence::Light();   value = published;   //
//   often published = null;  AsymmetricFence::Heavy();   count = pins; //
//   rarely
//
// At least one of two threads that run these lines sees what the other wrote.
// On Linux `Heavy` asks the kernel (membarrier) to run a fence on every
// processor of the process, so that `Light` need only hold back the compiler.
// Where the kernel refuses, both are sequentially consistent fences: right, and
// some 5 ns.
//
// Thread-safety: all of it. Call `ChooseFence` before the first use of an
// object that is guarded by these fences. Memory: none. Time: `Light` below 1
// ns, `Heavy` 0.5 to 10 us.

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

// Asks the kernel for the fast fence, once for the process; later calls answer
// what was chosen. Under ThreadSanitizer, which does not know membarrier, the
// answer is always kSequentiallyConsistent.
FenceKind ChooseFence();

// For tests: fences are sequentially consistent from here on, as on a kernel
// without membarrier. No other thread may be inside a pin meanwhile.
void ForceSequentiallyConsistentFenceForTesting();

// Safe before anyone has chosen: the light fence is then a full one.
inline std::atomic<bool> light_fence_is_free{false};

struct AsymmetricFence {
#ifdef FOOTPRINT_MEMO_THREAD_SANITIZER
  // ThreadSanitizer knows no fences either, but orders on the operations.
  static constexpr std::memory_order kStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kLoad = std::memory_order_seq_cst;
  static void Light() {}
  static void Heavy() {}
#else
  static constexpr std::memory_order kStore = std::memory_order_release;
  static constexpr std::memory_order kLoad = std::memory_order_acquire;
  static void Light() {
    if (light_fence_is_free.load(std::memory_order_relaxed)) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  static void Heavy();
#endif
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_ASYMMETRIC_FENCE_H_
