// Programs whose peak is known by construction, in requested bytes and, since
// every size is one that glibc hands out as it is, in usable ones:
//
//   known_peak_program hold     1,000 blocks of 10,248 bytes, kept
//   known_peak_program spike    4,000 of them, freed; then 1,000, kept
//   known_peak_program small N  400,000 blocks of 120 bytes; then N million
//                               times one of them is freed and allocated
//   known_peak_program threads  4 threads hold 500 blocks of 10,248 bytes each
//   known_peak_program first    a thread whose first block has 64 MiB, kept
//   known_peak_program sites N  each of 8 functions holds its blocks, after N
//                               blocks of 2 MiB were freed again, so that a
//                               sampler's random numbers are others
//   known_peak_program none     nothing

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/random/random_sequence.h"

namespace {

constexpr size_t kBlockBytes = 10248;
constexpr int kSmallCount = 400000;
constexpr int kThreads = 4;

__attribute__((noinline)) void* Allocate(size_t size_bytes) {
  void* const block = malloc(size_bytes);
  memset(block, 1, 16);
  return block;
}

void* blocks[kSmallCount];

void Hold(int count, size_t size_bytes) {
  for (int i = 0; i < count; ++i) blocks[i] = Allocate(size_bytes);
}

void Release(int count) {
  for (int i = 0; i < count; ++i) free(blocks[i]);
}

void ReplaceSmall(int count) {
  footprint::RandomSequence sequence(/*seed=*/1);
  for (int i = 0; i < count; ++i) {
    const uint64_t random = sequence.Next();
    void*& block = blocks[(random >> 16) % kSmallCount];
    free(block);
    block = Allocate(120);
  }
}

pthread_barrier_t barrier;

void* HoldInThread(void*) {
  void* held[500];
  for (void*& block : held) block = Allocate(kBlockBytes);
  pthread_barrier_wait(&barrier);
  for (void* block : held) free(block);
  return nullptr;
}

void HoldInThreads() {
  pthread_barrier_init(&barrier, nullptr, kThreads);
  pthread_t threads[kThreads];
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, HoldInThread, nullptr);
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

void* HoldFirst(void*) { return Allocate((64 << 20) + 8); }

void HoldInNewThread() {
  pthread_t thread;
  pthread_create(&thread, nullptr, HoldFirst, nullptr);
  pthread_join(thread, &blocks[0]);
}

// Named by what it holds: the test reads the name.
template <int size_bytes, int count>
__attribute__((noinline)) void HoldSite() {
  for (int i = 0; i < count; ++i) {
    void* const block = malloc(size_bytes);
    memset(block, 1, 16);
    asm volatile("" : : "r"(block) : "memory");
  }
}

void HoldSites(int earlier_count) {
  for (int i = 0; i < earlier_count; ++i) {
    void* const block = malloc(2 << 20);
    asm volatile("" : : "r"(block) : "memory");
    free(block);
  }
  HoldSite<24, 200000>();
  HoldSite<72, 50000>();
  HoldSite<136, 200000>();
  HoldSite<1032, 2000>();
  HoldSite<1288, 10000>();
  HoldSite<10248, 400>();
  HoldSite<65544, 60>();
  HoldSite<1048584, 12>();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  // Blocks in pages of their own would be rounded up to whole pages.
  mallopt(M_MMAP_MAX, 0);
  if (strcmp(argv[1], "hold") == 0) {
    Hold(1000, kBlockBytes);
  } else if (strcmp(argv[1], "spike") == 0) {
    Hold(4000, kBlockBytes);
    Release(4000);
    Hold(1000, kBlockBytes);
  } else if (strcmp(argv[1], "small") == 0 && argc == 3) {
    Hold(kSmallCount, 120);
    ReplaceSmall(atoi(argv[2]) * 1000000);
  } else if (strcmp(argv[1], "threads") == 0) {
    HoldInThreads();
  } else if (strcmp(argv[1], "first") == 0) {
    HoldInNewThread();
  } else if (strcmp(argv[1], "sites") == 0 && argc == 3) {
    HoldSites(atoi(argv[2]));
  } else if (strcmp(argv[1], "none") != 0) {
    return 2;
  }
  return 0;
}
