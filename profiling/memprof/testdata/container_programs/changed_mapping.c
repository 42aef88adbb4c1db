// A private mapping of a file of 40 MB, half of which is changed.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
  enum { kBytes = 40000000 };
  static char piece[1000000];
  const int file = open("data", O_RDWR | O_CREAT, 0600);
  for (long i = 0; i < kBytes; i += sizeof(piece)) {
    if (write(file, piece, sizeof(piece)) != sizeof(piece)) return 1;
  }
  fsync(file);
  char* data = mmap(0, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return 1;
  memset(data, 1, kBytes / 2);
  long sum = 0;
  for (long i = 0; i < kBytes; ++i) sum += data[i];
  printf("%ld\n", sum);
  return 0;
}
