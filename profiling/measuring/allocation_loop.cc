// A program that does nothing but allocate and free: what accounting costs at
// worst. See accounting_cost.sh.
//
//   allocation_loop [THREADS [MILLION_CALLS]]
//
// Builds up 200,000 blocks of 16 to 270 bytes, then frees and allocates one at
// a time at random, a few large ones among them, then frees all.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "footprint/base/random/random_sequence.h"

namespace {

constexpr int kBlockCount = 200000;

// The compiler must not see that a block is not used.
char* Allocate(size_t size) {
  char* block = new char[size];
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

void Churn(uint64_t seed, int64_t call_count) {
  std::vector<std::unique_ptr<char[]>> blocks(kBlockCount);
  footprint::RandomSequence random(seed);
  for (auto& block : blocks) block.reset(Allocate(16 + random.Below(255)));
  for (int64_t call = 0; call < call_count; ++call) {
    auto& block = blocks[random.Below(kBlockCount)];
    block.reset();
    const bool large = random.Below(4096) == 0;
    block.reset(Allocate(large ? 100000 : 16 + random.Below(255)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int thread_count = argc > 1 ? std::atoi(argv[1]) : 1;
  const int64_t call_count = (argc > 2 ? std::atoll(argv[2]) : 2) * 1000000;
  if (thread_count < 1 || call_count < 0) {
    std::fprintf(stderr, "usage: allocation_loop [THREADS [MILLION_CALLS]]\n");
    return 2;
  }
  std::vector<std::thread> threads;
  for (int i = 1; i < thread_count; ++i) {
    threads.emplace_back(Churn, i + 1, call_count);
  }
  Churn(1, call_count);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
