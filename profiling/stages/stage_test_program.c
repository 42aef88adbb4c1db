// A program whose stages are known, for tests. It does each argument in turn.
// Blocks have 10,240 bytes, which jemalloc does not round.
//
//   begin=NAME, end      begins a stage; ends the last one
//   open=NAME, close=N   begins a stage; ends the Nth that was opened, from 0
//   hold=N, drop=N       allocates N blocks; frees the last N
//   churn=N              allocates a block and frees it, N times
//   visits=N             visits "visit" N times, and churns once in each
//   deep=N               begins N stages, each inside the one before; ends them
//   many=N               visits N stages with different names
//   file=PATH, fopen=PATH, keep=PATH
//                        opens the file, churns with 3 blocks, and closes it
//                        (keep leaves it open)
//   thread ... join      does what lies between in a thread
//   fork ... parent      does it in a child, which then leaves by _exit
//   exec                 executes itself with the arguments that follow
//   vfork                makes a child that leaves by _exit
//   read                 prints what the last stage that was opened needed
//   _exit, kill          leaves at once; is killed

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/profiling/stages/footprint_stage.h"

enum { kBlockBytes = 10248, kMaxBlocks = 100000, kMaxOpened = 1000 };

static void* blocks[kMaxBlocks];
static int block_count = 0;
static int64_t opened[kMaxOpened];
static int opened_count = 0;

static void Hold(int count) {
  for (; count > 0; --count) {
    blocks[block_count] = malloc(kBlockBytes);
    memset(blocks[block_count++], 1, kBlockBytes);
  }
}

static void Drop(int count) {
  for (; count > 0; --count) free(blocks[--block_count]);
}

static void Churn(int count) {
  for (; count > 0; --count) {
    Hold(1);
    Drop(1);
  }
}

static void BeginNumbered(const char* name, int number) {
  char text[64];
  snprintf(text, sizeof(text), "%s %d", name, number);
  footprint_stage_begin(text);
}

static void Visits(int count) {
  for (; count > 0; --count) {
    footprint_stage_begin("visit");
    Churn(1);
    footprint_stage_end();
  }
}

static void Deep(int count) {
  for (int i = 0; i < count; ++i) BeginNumbered("deep", i);
  Churn(1);
  for (int i = 0; i < count; ++i) footprint_stage_end();
}

static void Many(int count) {
  for (int i = 0; i < count; ++i) {
    BeginNumbered("name", i);
    footprint_stage_end();
  }
}

static void UseFile(const char* path, int is_kept) {
  const int file = open(path, O_RDONLY);
  if (file < 0) exit(3);
  Hold(3);
  Drop(3);
  if (!is_kept) close(file);
}

static void UseStream(const char* path) {
  FILE* const file = fopen(path, "r");
  if (file == NULL) exit(3);
  Hold(3);
  Drop(3);
  fclose(file);
}

static void Read(void) {
  struct footprint_stage_figures figures;
  if (opened_count == 0 ||
      !footprint_stage_read(opened[opened_count - 1], &figures)) {
    puts("unknown");
    return;
  }
  printf("%lld %lld %lld\n", (long long)figures.peak_live_bytes,
         (long long)figures.allocated_bytes,
         (long long)figures.net_growth_bytes);
  fflush(stdout);
}

struct Words {
  char** at;
  const char* end;
};

static char** Run(char** words, const char* end);

static void* RunInThread(void* argument) {
  struct Words* const words = argument;
  words->at = Run(words->at, words->end);
  return NULL;
}

static char** Thread(char** words) {
  struct Words part = {words, "join"};
  pthread_t thread;
  pthread_create(&thread, NULL, RunInThread, &part);
  pthread_join(thread, NULL);
  return part.at;
}

static char** Fork(char** words) {
  const pid_t child = fork();
  if (child == 0) {
    Run(words, "parent");
    _exit(0);
  }
  waitpid(child, NULL, 0);
  while (strcmp(*words, "parent") != 0) ++words;
  return words;
}

static void Vfork(void) {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

static void Do(const char* word, const char* value) {
  const int number = atoi(value);
  if (strcmp(word, "begin") == 0) footprint_stage_begin(value);
  if (strcmp(word, "end") == 0) footprint_stage_end();
  if (strcmp(word, "open") == 0) {
    opened[opened_count++] = footprint_stage_begin(value);
  }
  if (strcmp(word, "close") == 0) footprint_stage_end_of(opened[number]);
  if (strcmp(word, "hold") == 0) Hold(number);
  if (strcmp(word, "drop") == 0) Drop(number);
  if (strcmp(word, "churn") == 0) Churn(number);
  if (strcmp(word, "visits") == 0) Visits(number);
  if (strcmp(word, "deep") == 0) Deep(number);
  if (strcmp(word, "many") == 0) Many(number);
  if (strcmp(word, "file") == 0) UseFile(value, 0);
  if (strcmp(word, "keep") == 0) UseFile(value, 1);
  if (strcmp(word, "fopen") == 0) UseStream(value);
  if (strcmp(word, "vfork") == 0) Vfork();
  if (strcmp(word, "read") == 0) Read();
  if (strcmp(word, "_exit") == 0) _exit(0);
  if (strcmp(word, "kill") == 0) kill(getpid(), SIGKILL);
}

// Does the arguments up to the word `end`, and returns that.
static char** Run(char** words, const char* end) {
  for (; *words != NULL && strcmp(*words, end) != 0; ++words) {
    if (strcmp(*words, "thread") == 0) {
      words = Thread(words + 1);
    } else if (strcmp(*words, "fork") == 0) {
      words = Fork(words + 1);
    } else if (strcmp(*words, "exec") == 0) {
      words[0] = (char*)"stage_test_program";
      execv("/proc/self/exe", words);
    } else {
      char word[16];
      const char* const equals = strchr(*words, '=');
      const size_t size =
          equals == NULL ? strlen(*words) : (size_t)(equals - *words);
      snprintf(word, sizeof(word), "%.*s", (int)size, *words);
      Do(word, equals == NULL ? "" : equals + 1);
    }
  }
  return words;
}

int main(int argc, char** argv) {
  (void)argc;
  Run(argv + 1, "");
  return 0;
}
