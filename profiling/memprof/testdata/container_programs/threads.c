// Four threads that hold 20 MB each at the same time.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t barrier;

static void* Work(void* unused) {
  for (int i = 0; i < 20000; ++i) memset(malloc(1000), 1, 1000);
  pthread_barrier_wait(&barrier);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&barrier, 0, 4);
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, Work, 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  return 0;
}
