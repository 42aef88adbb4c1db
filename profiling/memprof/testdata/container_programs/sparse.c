// A tenth of a block is touched.
#include <stdlib.h>
#include <string.h>

int main(void) {
  char* block = malloc(400 << 20);
  memset(block, 1, 40 << 20);
  return 0;
}
