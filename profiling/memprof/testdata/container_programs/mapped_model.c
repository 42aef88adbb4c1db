// mapped_model MEGABYTES PASSES: reads a mapped file several times, as the
// passes of a model do.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const long bytes = atol(argv[1]) * 1000000;
  static char piece[1000000];
  memset(piece, 1, sizeof(piece));
  const int file = open("model", O_RDWR | O_CREAT, 0600);
  for (long i = 0; i < bytes; i += sizeof(piece)) {
    if (write(file, piece, sizeof(piece)) != sizeof(piece)) return 1;
  }
  fsync(file);
  const char* model = mmap(0, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (model == MAP_FAILED) return 1;
  long sum = 0;
  for (int pass = 0; pass < atoi(argv[2]); ++pass) {
    for (long i = 0; i < bytes; i += 64) sum += model[i];
  }
  printf("%ld\n", sum);
  return 0;
}
