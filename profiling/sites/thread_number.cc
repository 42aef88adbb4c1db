#include "footprint/profiling/sites/thread_number.h"

#include <atomic>

namespace footprint::profiling_internal {
namespace {

std::atomic<uint32_t> thread_count{0};
__thread uint32_t thread_number __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

uint32_t ThreadNumber() {
  if (thread_number == 0) thread_number = ++thread_count;
  return thread_number;
}

void RestartThreadNumbers() {
  thread_count = 0;
  thread_number = 0;
}

}  // namespace footprint::profiling_internal
