// Blocks of many sizes, half of which are freed in another order and replaced.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  enum { kCount = 40000 };
  static char* blocks[kCount];
  size_t sum = 0;
  for (size_t round = 0; round < 3; ++round) {
    for (size_t i = 0; i < kCount; ++i) {
      const size_t slot = i * 7919 % kCount;
      if (round > 0 && slot % 2 == 0) continue;
      const size_t size = 100 + (i * 613 + round * 977) % 3000;
      free(blocks[slot]);
      blocks[slot] = memset(malloc(size), 1, size);
      sum += size;
    }
  }
  printf("%zu\n", sum);
  return 0;
}
