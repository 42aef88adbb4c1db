// A program whose processor time, copies and interrupted calls are known, for
// tests of memprof: each argument is done in turn.
//
//   spin=MS       SpinLong uses 3 * MS of processor time, SpinShort MS, by
//   turns system=MS     AskKernel uses MS in system calls threads=MS    as many
//   as 3 threads spin, for MS, 2 MS and 3 MS; the second
//                 is detached, the third leaves by pthread_exit
//   fork=MS       a child spins for MS and leaves by _exit
//   exec=PATH     becomes the program, with the arguments that follow
//   kill          ends by SIGKILL
//   mask          blocks all signals that can be
//   profile=MS    counts SIGPROF of its own timer while it spins; prints "own
//                 signals" if they came
//   users         changes its user to what it is, with a second thread
//   wait=ROUNDS   waits for a short while in many ways and works between them;
//                 prints how often a call was ended by a signal
//   malloc=MS     allocates and frees from two threads
//   copy=COUNT    CopyMuch copies COUNT blocks of 100,000 bytes, CopyLittle as
//                 many of 1,000
//   once=COUNT    in each of COUNT threads, CopyOnce copies 1,000 bytes
//   overlap       moves ranges that overlap

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>

namespace {

long ThreadTimeUs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

__attribute__((noinline)) void Work() {
  for (volatile int i = 0; i < 20000; i = i + 1) {
  }
}

__attribute__((noinline)) void SpinLong(long us) {
  const long end = ThreadTimeUs() + us;
  while (ThreadTimeUs() < end) Work();
  asm volatile("");
}

__attribute__((noinline)) void SpinShort(long us) {
  const long end = ThreadTimeUs() + us;
  while (ThreadTimeUs() < end) Work();
  asm volatile("");
}

// Turns of random length, since the kernel samples at its ticks: turns of equal
// length would keep step with them.
void SpinInTurns(long ms) {
  unsigned random = 1;
  for (long left_us = 1000 * ms; left_us > 0;) {
    random = random * 1664525 + 1013904223;
    const long us = 200 + static_cast<long>(random >> 16) % 1000;
    SpinLong(3 * us);
    SpinShort(us);
    left_us -= us;
  }
}

__attribute__((noinline)) void AskKernel(long ms) {
  static char zeros[1 << 16];
  const long end = ThreadTimeUs() + ms * 1000;
  FILE* const source = fopen("/dev/zero", "r");
  while (ThreadTimeUs() < end) {
    if (read(fileno(source), zeros, sizeof(zeros)) < 0) exit(1);
  }
  fclose(source);
}

void* SpinThread(void* ms) {
  SpinLong(1000 * reinterpret_cast<long>(ms));
  return nullptr;
}

pthread_barrier_t detached_ended;

void* SpinDetached(void* ms) {
  pthread_detach(pthread_self());
  SpinLong(1000 * reinterpret_cast<long>(ms));
  pthread_barrier_wait(&detached_ended);
  return nullptr;
}

void* SpinAndLeave(void* ms) {
  SpinLong(1000 * reinterpret_cast<long>(ms));
  pthread_exit(nullptr);
}

void RunThreads(long ms) {
  pthread_barrier_init(&detached_ended, nullptr, 2);
  pthread_t first;
  pthread_t second;
  pthread_t third;
  pthread_create(&first, nullptr, SpinThread, reinterpret_cast<void*>(ms));
  pthread_create(&second, nullptr, SpinDetached,
                 reinterpret_cast<void*>(2 * ms));
  pthread_create(&third, nullptr, SpinAndLeave,
                 reinterpret_cast<void*>(3 * ms));
  pthread_join(first, nullptr);
  pthread_join(third, nullptr);
  pthread_barrier_wait(&detached_ended);
}

volatile sig_atomic_t own_signals = 0;
void CountSignal(int) { own_signals = own_signals + 1; }

void Profile(long ms) {
  signal(SIGPROF, CountSignal);
  const itimerval timer = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  SpinLong(1000 * ms);
  const itimerval none = {};
  setitimer(ITIMER_PROF, &none, nullptr);
  puts(own_signals > ms / 40 ? "own signals" : "no signals");
}

void* Pause(void*) {
  pause();
  return nullptr;
}

void ChangeUsers() {
  pthread_t thread;
  pthread_create(&thread, nullptr, Pause, nullptr);
  for (int i = 0; i < 50; ++i) {
    SpinShort(2000);
    if (setgid(getgid()) != 0) exit(1);
  }
  puts("changed users");
}

bool WaitOnce(int way, int pipe_end) {
  const timespec moment = {0, 200'000};
  timeval short_time = {0, 200};
  pollfd polled = {pipe_end, POLLIN, 0};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe_end, &set);
  epoll_event event;
  static const int epoll = epoll_create1(0);
  switch (way) {
    case 0:
      return nanosleep(&moment, nullptr) == 0;
    case 1:
      return poll(&polled, 1, 0) == 0;
    case 2:
      return select(pipe_end + 1, &set, nullptr, nullptr, &short_time) == 0;
    case 3:
      return epoll_wait(epoll, &event, 1, 1) == 0;
    case 4:
      return usleep(200) == 0;
    default:
      return clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr) == 0;
  }
}

void Wait(int rounds) {
  int ends[2];
  if (pipe(ends) != 0) exit(1);
  int interrupted = 0;
  for (int i = 0; i < rounds; ++i) {
    for (volatile int work = 0; work < 100000; work = work + 1) {
    }
    if (!WaitOnce(i % 6, ends[0])) ++interrupted;
  }
  printf("%d calls were ended by a signal\n", interrupted);
}

void* AllocateFor(void* ms) {
  const long end = ThreadTimeUs() + 1000 * reinterpret_cast<long>(ms);
  void* blocks[64] = {};
  for (unsigned i = 0; ThreadTimeUs() < end; ++i) {
    for (int each = 0; each < 100; ++each) {
      void*& block = blocks[(i * 7 + static_cast<unsigned>(each)) % 64];
      free(block);
      block = malloc(static_cast<size_t>(each) * 100 + 1);
    }
  }
  for (void* block : blocks) free(block);
  return nullptr;
}

char source_bytes[100'000];
char target_bytes[100'000];

// Through pointers, so that no compiler copies by itself.
void* (*volatile copy)(void*, const void*, size_t) = memcpy;
void* (*volatile move)(void*, const void*, size_t) = memmove;

__attribute__((noinline)) void CopyMuch() {
  copy(target_bytes, source_bytes, 100'000);
  asm volatile("");
}

__attribute__((noinline)) void CopyLittle() {
  move(target_bytes, source_bytes, 1000);
  asm volatile("");
}

__attribute__((noinline)) void CopyOnce() {
  copy(target_bytes, source_bytes, 1000);
  asm volatile("");
}

void CopyOnceInThreads(long count) {
  for (long i = 0; i < count; ++i) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          CopyOnce();
          return nullptr;
        },
        nullptr);
    pthread_join(thread, nullptr);
  }
}

void Overlap() {
  char text[] = "abcdefgh";
  move(text + 1, text, 6);
  move(text, text + 2, 5);
  puts(text);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find('='));
    char* const value = argv[i] + std::min(name.size() + 1, word.size());
    const long number = atol(value);
    if (name == "spin") {
      SpinInTurns(number);
    } else if (name == "system") {
      AskKernel(number);
    } else if (name == "threads") {
      RunThreads(number);
    } else if (name == "fork") {
      if (fork() == 0) {
        SpinShort(number * 1000);
        _exit(0);
      }
      wait(nullptr);
    } else if (name == "exec") {
      argv[i] = value;
      execv(value, argv + i);
      return 1;
    } else if (name == "kill") {
      kill(getpid(), SIGKILL);
    } else if (name == "mask") {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
    } else if (name == "profile") {
      Profile(number);
    } else if (name == "users") {
      ChangeUsers();
    } else if (name == "wait") {
      Wait(static_cast<int>(number));
    } else if (name == "malloc") {
      pthread_t thread;
      pthread_create(&thread, nullptr, AllocateFor,
                     reinterpret_cast<void*>(number));
      AllocateFor(reinterpret_cast<void*>(number));
      pthread_join(thread, nullptr);
    } else if (name == "copy") {
      for (long block = 0; block < number; ++block) {
        CopyMuch();
        CopyLittle();
      }
    } else if (name == "once") {
      CopyOnceInThreads(number);
    } else if (name == "overlap") {
      Overlap();
    }
  }
  return 0;
}
