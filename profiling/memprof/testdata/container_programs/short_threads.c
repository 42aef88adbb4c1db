// Threads one after the other, each of which frees what the one before left.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBlocks = 2000 };
static char* left[kBlocks];

static void* Work(void* unused) {
  for (int i = 0; i < kBlocks; ++i) {
    free(left[i]);
    left[i] = memset(malloc(20000), 1, 20000);
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < 48; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, Work, 0);
    pthread_join(thread, 0);
  }
  printf("%d\n", left[kBlocks - 1][0]);
  return 0;
}
