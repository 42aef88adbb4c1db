// Allocates for a long time: MILLIONS of blocks of 16 to 271 bytes, by 64
// functions. Each block replaces one of SLOTS blocks that are live at once.
//
//   allocation_churn MILLIONS SLOTS
//
// Each block is touched. Prints the kernel's high-water mark of the resident
// set, in bytes.

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <utility>
#include <vector>

#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/random/random_sequence.h"

namespace {

constexpr int kSiteCount = 64;

template <int site>
__attribute__((noinline)) void* Allocate(size_t size_bytes) {
  void* const block = malloc(size_bytes);
  // This keeps the functions distinct.
  asm volatile("" : : "r"(block), "i"(site) : "memory");
  *static_cast<char*>(block) = 1;
  return block;
}

using Site = void* (*)(size_t);

template <int... sites>
std::vector<Site> Sites(std::integer_sequence<int, sites...>) {
  return {Allocate<sites>...};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const uint64_t count = strtoull(argv[1], nullptr, 10) * 1000000;
  std::vector<void*> slots(strtoull(argv[2], nullptr, 10));
  const std::vector<Site> sites =
      Sites(std::make_integer_sequence<int, kSiteCount>());
  footprint::RandomSequence sequence(/*seed=*/1);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t random = sequence.Next();
    void*& slot = slots[(random >> 16) % slots.size()];
    free(slot);
    slot = sites[random % kSiteCount](16 + (random >> 56));
  }
  printf("%" PRId64 "\n", footprint::ReadResidentBytes().peak_bytes);
  return 0;
}
