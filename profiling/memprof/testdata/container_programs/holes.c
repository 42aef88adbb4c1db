// Blocks that fit into no hole that freed ones left.
#include <stdlib.h>
#include <string.h>

int main(void) {
  enum { kCount = 1000 };
  static char *freed[kCount], *pins[kCount], *kept[kCount];
  for (int i = 0; i < kCount; ++i) {
    freed[i] = memset(malloc(100000), 1, 100000);
    pins[i] = memset(malloc(1000), 1, 1000);
  }
  for (int i = 0; i < kCount; ++i) free(freed[i]);
  for (int i = 0; i < kCount; ++i) kept[i] = memset(malloc(126000), 1, 126000);
  return 0;
}
