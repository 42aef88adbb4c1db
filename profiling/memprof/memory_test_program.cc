// A program whose heap is known, for tests of memprof: each argument is done in
// turn. Blocks are of 10,248 bytes, which glibc hands out as they are.
//
//   hold=N       allocates N blocks and keeps them
//   release      frees all of them
//   threads=N    N threads, at once, allocate 100 blocks each and free them
//   thread_exit  a thread that ends by pthread_exit, and one that is cancelled
//   fork=N       N children at once allocate 50 blocks each and leave by _exit
//   vfork        a child by vfork that leaves by _exit
//   exec=PATH    becomes the program, with the arguments that follow
//   spawn=PATH   runs the program, with the arguments that follow, and waits
//   exit=N, _exit=N, kill=N (a signal to itself), overflow (of the stack)
//   plugin=N     loads and unloads libz N times, and allocates between
//   die_in_malloc  a signal whose handler calls _exit, at any place of malloc
//   close        closes every descriptor above 2
//   limit_files  lets no file be longer than 100 bytes
//   print        writes a line

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

constexpr size_t kBlockBytes = 10248;

std::vector<void*> held;

__attribute__((noinline)) void* Allocate() {
  void* const block = malloc(kBlockBytes);
  memset(block, 1, kBlockBytes);
  return block;
}

void* AllocateInThread(void* barrier) {
  void* blocks[100];
  for (void*& block : blocks) block = Allocate();
  pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier));
  for (void* block : blocks) free(block);
  return nullptr;
}

void RunThreads(int count) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(count));
  std::vector<pthread_t> threads(static_cast<size_t>(count));
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, AllocateInThread, &barrier);
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

void* ExitThread(void*) { pthread_exit(Allocate()); }

void* WaitForever(void*) {
  for (;;) pause();
}

void EndThreadsEarly() {
  pthread_t thread;
  void* block = nullptr;
  pthread_create(&thread, nullptr, ExitThread, nullptr);
  pthread_join(thread, &block);
  free(block);
  pthread_create(&thread, nullptr, WaitForever, nullptr);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
}

void Fork(int count) {
  for (int i = 0; i < count; ++i) {
    if (fork() == 0) {
      for (int block = 0; block < 50; ++block) Allocate();
      _exit(0);
    }
  }
  while (wait(nullptr) > 0) {
  }
}

void Spawn(const char* path, char** arguments) {
  pid_t process;
  if (posix_spawn(&process, path, nullptr, nullptr, arguments, environ) != 0) {
    perror(path);
    exit(1);
  }
  waitpid(process, nullptr, 0);
}

void ExitFromHandler(int) { _exit(0); }

// The heap grows without end, so that most of the time is spent where a new
// peak is counted.
void DieInMalloc() {
  signal(SIGPROF, ExitFromHandler);
  const itimerval timer = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  for (;;) {
    void* const block = malloc(16);
    asm volatile("" : : "r"(block) : "memory");
  }
}

__attribute__((noinline)) int Overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  if (depth < 0) return 0;  // never
  return Overflow(depth + 1) + frame[0];
}

}  // namespace

int main(int argc, char** argv) {
  held.reserve(100000);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find('='));
    const char* const value =
        name.size() < word.size() ? argv[i] + name.size() + 1 : "0";
    if (name == "hold") {
      for (int block = atoi(value); block > 0; --block) {
        held.push_back(Allocate());
      }
    } else if (name == "release") {
      for (void* block : held) free(block);
      held.clear();
    } else if (name == "threads") {
      RunThreads(atoi(value));
    } else if (name == "thread_exit") {
      EndThreadsEarly();
    } else if (name == "fork") {
      Fork(atoi(value));
    } else if (name == "vfork") {
      const pid_t process = vfork();
      if (process == 0) _exit(0);
      waitpid(process, nullptr, 0);
    } else if (name == "exec") {
      argv[i] = const_cast<char*>(value);
      execv(value, argv + i);
      return 1;
    } else if (name == "spawn") {
      argv[i] = const_cast<char*>(value);
      Spawn(value, argv + i);
      return 0;
    } else if (name == "exit") {
      exit(atoi(value));
    } else if (name == "_exit") {
      _exit(atoi(value));
    } else if (name == "kill") {
      kill(getpid(), atoi(value));
    } else if (name == "overflow") {
      return Overflow(0);
    } else if (name == "plugin") {
      for (int round = atoi(value); round > 0; --round) {
        void* const object = dlopen("libz.so.1", RTLD_NOW);
        if (object == nullptr || dlclose(object) != 0) return 1;
        free(Allocate());
      }
    } else if (name == "die_in_malloc") {
      DieInMalloc();
    } else if (name == "close") {
      for (int file = 3; file < 4096; ++file) close(file);
    } else if (name == "limit_files") {
      const rlimit limit = {100, 100};
      setrlimit(RLIMIT_FSIZE, &limit);
    } else if (name == "print") {
      puts("the program's own line");
    }
  }
  return 0;
}
