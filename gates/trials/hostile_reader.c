// Plays a record reader that a record took over. The name of the first file in
// /records selects what it does.

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void hold(void) {
  while (1) {
    char *block = malloc(1 << 20);
    if (block == NULL) abort();
    memset(block, 1, 1 << 20);
  }
}

static void flood(void) {
  char block[1 << 16];
  memset(block, 'x', sizeof(block));
  for (int i = 0; i < 1024; ++i) (void)!write(1, block, sizeof(block));
}

// Ends with 0 if something succeeds that the sandbox must refuse.
static void escape(void) {
  if (open("/records/written", O_CREAT | O_WRONLY, 0666) >= 0) _exit(0);
  if (open("/etc/shadow", O_RDONLY) >= 0) _exit(0);
  if (open("/bundle/written", O_CREAT | O_WRONLY, 0666) >= 0) _exit(0);
  const struct sockaddr_in elsewhere = {.sin_family = AF_INET,
                                        .sin_port = htons(53),
                                        .sin_addr = {htonl(0xc0000201)}};
  const int out = socket(AF_INET, SOCK_DGRAM, 0);
  if (out >= 0 && connect(out, (const struct sockaddr *)&elsewhere,
                          sizeof(elsewhere)) == 0) {
    _exit(0);
  }
  if (kill(getppid(), SIGKILL) == 0) _exit(0);
  _exit(9);
}

static void act(const char *name) {
  if (strcmp(name, "crash") == 0) raise(SIGSEGV);
  if (strcmp(name, "hold") == 0) hold();
  if (strcmp(name, "spin") == 0) {
    while (1) {
    }
  }
  if (strcmp(name, "flood") == 0) flood();
  if (strcmp(name, "escape") == 0) escape();
  if (strcmp(name, "nonsense") == 0) printf("nonsense");
  // heap_peak_bytes: 5, as protobuf writes it.
  if (strcmp(name, "good") == 0) printf("\x08\x05");
}

int main(void) {
  DIR *records = opendir("/records");
  if (records == NULL) return 3;
  const struct dirent *each;
  while ((each = readdir(records)) != NULL) {
    if (each->d_name[0] != '.') act(each->d_name);
  }
  return 0;
}
