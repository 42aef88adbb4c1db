// Six processes, each the parent of the next, with 10 MB of its own each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int depth = 0;
  pid_t child = 0;
  while (++depth < 6 && (child = fork()) == 0) {
  }
  memset(malloc(10000000), depth, 10000000);
  int status = 0;
  if (child > 0) wait(&status);
  if (depth == 1) printf("%d\n", status);
  return status != 0;
}
