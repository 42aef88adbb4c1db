// A program that only allocates and frees, which is the worst case for the cost
// of accounting. See accounting_cost.sh and counting_cost.py.
//
//   allocation_loop [THREADS [MILLION_PAIRS [mixed|slots [MARKED_PAIRS]]]]
//
// "mixed" allocates 200,000 blocks of 16 to 270 bytes, then frees and allocates
// one at a time at random, with a few large ones, then frees all. "slots" does
// the same with 1,000 blocks of 8 to 63 bytes and no large ones, so that the
// live bytes are always close to their peak. MARKED_PAIRS more pairs follow
// between two marks for tools/bench/count_instructions.cc.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "footprint/base/random/random_sequence.h"

namespace {

struct Blocks {
  uint64_t count;
  uint64_t least_bytes;
  uint64_t size_count;
  // One block in this many is large; 0 means none.
  uint64_t large_every;
};

constexpr Blocks kMixed = {200000, 16, 255, 4096};
constexpr Blocks kSlots = {1000, 8, 56, 0};

// The compiler must not see that the block is unused.
char* Allocate(size_t size) {
  char* block = new char[size];
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

template <const Blocks& kBlocks>
class Churn {
 public:
  explicit Churn(uint64_t seed) : blocks_(kBlocks.count), random_(seed) {
    for (auto& block : blocks_) block.reset(Allocate(SmallSize()));
  }

  void Pairs(int64_t count) {
    for (int64_t pair = 0; pair < count; ++pair) {
      auto& block = blocks_[random_.Below(kBlocks.count)];
      block.reset();
      bool large = false;
      if constexpr (kBlocks.large_every != 0) {
        large = random_.Below(kBlocks.large_every) == 0;
      }
      block.reset(Allocate(large ? 100000 : SmallSize()));
    }
  }

 private:
  size_t SmallSize() {
    return kBlocks.least_bytes + random_.Below(kBlocks.size_count);
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  footprint::RandomSequence random_;
};

void Mark() { asm volatile("int3"); }

template <const Blocks& kBlocks>
void Run(uint64_t seed, int64_t pair_count, int64_t marked_pair_count) {
  Churn<kBlocks> churn(seed);
  churn.Pairs(pair_count);
  if (marked_pair_count == 0) return;
  Mark();
  churn.Pairs(marked_pair_count);
  Mark();
}

}  // namespace

int main(int argc, char** argv) {
  const int thread_count = argc > 1 ? std::atoi(argv[1]) : 1;
  const int64_t pair_count = (argc > 2 ? std::atoll(argv[2]) : 2) * 1000000;
  const char* const kind = argc > 3 ? argv[3] : "mixed";
  const int64_t marked_pair_count = argc > 4 ? std::atoll(argv[4]) : 0;
  const bool is_mixed = std::strcmp(kind, "mixed") == 0;
  if (thread_count < 1 || pair_count < 0 || marked_pair_count < 0 ||
      (!is_mixed && std::strcmp(kind, "slots") != 0)) {
    std::fprintf(stderr,
                 "usage: allocation_loop [THREADS [MILLION_PAIRS "
                 "[mixed|slots [MARKED_PAIRS]]]]\n");
    return 2;
  }
  const auto run = [&](uint64_t seed) {
    return is_mixed ? Run<kMixed>(seed, pair_count, marked_pair_count)
                    : Run<kSlots>(seed, pair_count, marked_pair_count);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < thread_count; ++i) threads.emplace_back(run, i + 1);
  run(1);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
