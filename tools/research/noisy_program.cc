// Prints its peak resident set in bytes, which varies from run to run.
//
//   bazel run -c opt //tools/research:noisy_program -- RUNS THREADS
//
// It runs itself RUNS times, in fresh processes. In each, threads allocate and
// free 20,000 blocks of the same seeded sizes. Which blocks are live at a time
// depends on the order in which the threads run.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "footprint/base/random/random_sequence.h"

namespace footprint {
namespace {

constexpr int kAllocations = 20000;
constexpr uint64_t kMostBytes = 8192;
constexpr size_t kLiveBlocks = 2000;

// The threads begin together.
void AllocateAndFree(uint64_t seed, std::atomic<int>* waiting) {
  --*waiting;
  while (*waiting > 0) std::this_thread::yield();
  RandomSequence random(seed);
  std::vector<std::unique_ptr<char[]>> live(kLiveBlocks);
  for (int i = 0; i < kAllocations; ++i) {
    const size_t bytes = 16 + random.Below(kMostBytes);
    std::unique_ptr<char[]>& place = live[random.Below(kLiveBlocks)];
    place = std::make_unique<char[]>(bytes);
  }
}

void RunThreads(int count) {
  std::vector<std::thread> threads;
  std::atomic<int> waiting(count);
  for (int i = 0; i < count; ++i) {
    threads.emplace_back(AllocateAndFree, static_cast<uint64_t>(i + 1),
                         &waiting);
  }
  for (std::thread& thread : threads) thread.join();
}

bool RunOnce(const char* program, const char* threads) {
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, "1", threads, "once", nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage = {};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    return false;
  }
  std::printf("%ld\n", usage.ru_maxrss * 1024L);
  return true;
}

int Main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 0;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  if (runs < 1 || threads < 1) {
    std::fputs("noisy_program: give RUNS and THREADS, 1 or more\n", stderr);
    return 2;
  }
  if (argc > 3) {
    RunThreads(threads);
    return 0;
  }
  for (int i = 0; i < runs; ++i) {
    if (!RunOnce("/proc/self/exe", argv[2])) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) { return footprint::Main(argc, argv); }
