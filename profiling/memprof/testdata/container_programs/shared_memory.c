// Two processes that write and read the same 50 MB of POSIX shared memory.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  enum { kBytes = 50000000 };
  char name[64];
  snprintf(name, sizeof(name), "/footprint.%d", (int)getpid());
  const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  shm_unlink(name);
  if (file < 0 || ftruncate(file, kBytes) != 0) return 1;
  char* shared = mmap(0, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) return 1;
  if (fork() == 0) {
    memset(shared, 1, kBytes);
    return 0;
  }
  wait(0);
  long sum = 0;
  for (long i = 0; i < kBytes; ++i) sum += shared[i];
  printf("%ld\n", sum);
  return 0;
}
