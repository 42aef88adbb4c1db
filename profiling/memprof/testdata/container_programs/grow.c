// A block that grows by a MiB at a time.
#include <stdlib.h>
#include <string.h>

int main(void) {
  char* block = 0;
  for (size_t size = 1 << 20; size <= 100 << 20; size += 1 << 20) {
    block = realloc(block, size);
    memset(block + size - (1 << 20), 1, 1 << 20);
  }
  return 0;
}
