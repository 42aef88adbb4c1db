// A program that does what agents and launchers die of; what it prints is the
// same in each run. The list hostile_situations.txt says which words it is run
// with.
//
//   hostile_program WORD [NUMBER]

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char** environ;

static void* Touch(size_t size) {
  char* block = malloc(size);
  if (block != NULL) memset(block, 1, size);
  return block;
}

static void Churn(int times) {
  void* blocks[16] = {0};
  for (int i = 0; i < times; ++i) {
    free(blocks[i % 16]);
    blocks[i % 16] = Touch(16 + (size_t)i * 37 % 5000);
  }
  for (int i = 0; i < 16; ++i) free(blocks[i]);
}

static int WaitFor(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Children.

static int Forks(int number) {
  int sum = 0;
  for (int i = 0; i < number; ++i) {
    pid_t child = fork();
    if (child == 0) {
      Churn(100);
      _exit(i % 100);
    }
    sum += WEXITSTATUS(WaitFor(child));
  }
  return printf("%d children, sum %d\n", number, sum) < 0;
}

static int AllAtOnce(int number) {
  int failed = 0;
  for (int i = 0; i < number; ++i) {
    pid_t child = fork();
    if (child == 0) {
      Churn(50);
      _exit(3);
    }
    failed += child < 0;
  }
  int ended = 0, status;
  while (wait(&status) > 0) ended += WEXITSTATUS(status) == 3;
  return printf("%d failed, %d ended\n", failed, ended) < 0;
}

static int Chain(int number) {
  for (int depth = 0; depth < number; ++depth) {
    pid_t child = fork();
    if (child != 0) {
      int status = WaitFor(child);
      if (depth > 0) _exit((WEXITSTATUS(status) + 1) % 251);
      return printf("chain ends with %d\n", WEXITSTATUS(status)) < 0;
    }
    Churn(20);
  }
  _exit(1);
}

static int Spawns(int number) {
  int good = 0;
  char* words[] = {"true", NULL};
  for (int i = 0; i < number; ++i) {
    pid_t child;
    if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) == 0) {
      good += WaitFor(child) == 0;
    }
  }
  return printf("%d spawned\n", good) < 0;
}

static int Vforks(int number) {
  int good = 0;
  for (int i = 0; i < number; ++i) {
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", NULL);
      _exit(9);
    }
    good += WaitFor(child) == 0;
  }
  return printf("%d by vfork\n", good) < 0;
}

static int ExecChain(int number, char* self) {
  Churn(20);
  if (number == 0) return puts("end of the chain") < 0;
  char text[20];
  snprintf(text, sizeof text, "%d", number - 1);
  execl(self, self, "exec_chain", text, NULL);
  return 9;
}

static char* exec_self;
static void* ExecNow(void* unused) {
  (void)unused;
  execl(exec_self, exec_self, "exec_chain", "0", NULL);
  return NULL;
}
static void* Sleep(void* unused) {
  for (;;) {
    free(malloc(100));
    usleep(100);
  }
  return unused;
}
static int ExecInThread(char* self) {
  pthread_t threads[5];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, Sleep, NULL);
  exec_self = self;
  pthread_create(&threads[4], NULL, ExecNow, NULL);
  pthread_join(threads[4], NULL);
  return 9;
}

static int EmptyExec(char* self) {
  char* none[] = {self, "exec_chain", "0", NULL};
  clearenv();
  execve(self, none, environ);
  return 9;
}

static int KillParent(void) {
  pid_t parent = fork();
  if (parent == 0) {
    if (fork() == 0) {
      Churn(100);
      kill(getppid(), SIGKILL);
      _exit(0);
    }
    for (;;) Churn(10);
  }
  return printf("signal %d\n", WTERMSIG(WaitFor(parent))) < 0;
}

static int IgnoreChildren(int number) {
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < number; ++i) {
    if (fork() == 0) {
      Churn(20);
      _exit(1);
    }
  }
  int status;
  while (wait(&status) > 0) continue;
  return printf("%s\n", strerror(errno)) < 0;
}

static void ForkInHandler(int unused) {
  (void)unused;
  pid_t child = fork();
  if (child == 0) _exit(0);
  WaitFor(child);
}
static int HandlerForks(int number) {
  signal(SIGUSR1, ForkInHandler);
  for (int i = 0; i < number; ++i) {
    raise(SIGUSR1);
    Churn(20);
  }
  return printf("%d forks in handlers\n", number) < 0;
}

static void AllocateBeforeFork(void) { free(Touch(1000)); }
static int AtFork(int number) {
  pthread_atfork(AllocateBeforeFork, AllocateBeforeFork, AllocateBeforeFork);
  return Forks(number);
}

// Signals.

static volatile sig_atomic_t signals;
static void CountSignal(int unused) {
  (void)unused;
  ++signals;
}
static int SignalStorm(int milliseconds) {
  struct sigaction action = {.sa_handler = CountSignal};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval each = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &each, NULL);
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    Churn(100);
    if (fork() == 0) _exit(0);
    while (waitpid(-1, NULL, 0) < 0 && errno == EINTR) continue;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 +
               (now.tv_nsec - begin.tv_nsec) / 1000000 <
           milliseconds);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  return printf("%s\n", signals > 10 ? "signals came" : "no signals") < 0;
}

static int SignalsInterrupt(void) {
  struct sigaction action = {.sa_handler = CountSignal};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval once = {{0, 0}, {0, 50000}};
  setitimer(ITIMER_REAL, &once, NULL);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  char byte;
  ssize_t count = read(ends[0], &byte, 1);
  return printf("%zd %s\n", count, strerror(errno)) < 0;
}

static int Blocked(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  Churn(2000);
  pid_t child = fork();
  if (child == 0) {
    sigset_t found;
    sigprocmask(SIG_SETMASK, NULL, &found);
    _exit(sigismember(&found, SIGUSR1) + 2 * sigismember(&found, SIGPROF));
  }
  return printf("mask %d\n", WEXITSTATUS(WaitFor(child))) < 0;
}

static int Handlers(void) {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction found;
    if (sigaction(number, NULL, &found) == 0 && found.sa_handler != SIG_DFL) {
      printf("%d is handled\n", number);
    }
  }
  sigset_t mask;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&mask, number) == 1) printf("%d is blocked\n", number);
  }
  return 0;
}

static sigjmp_buf back;
static void JumpBack(int unused) {
  (void)unused;
  siglongjmp(back, 1);
}
static int Deep(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  free(malloc(64));
  return Deep(depth + 1) + room[0];
}
static int Overflow(int number) {
  static char other_stack[65536];
  stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = JumpBack, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < number; ++i) {
    if (sigsetjmp(back, 1) == 0) Deep(0);
    Churn(50);
  }
  return printf("%d overflows\n", number) < 0;
}

static int Faults(int number) {
  struct sigaction action = {.sa_handler = JumpBack};
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < number; ++i) {
    if (sigsetjmp(back, 1) == 0) *(volatile int*)8 = i;
    Churn(50);
  }
  return printf("%d faults\n", number) < 0;
}

// Filters of system calls: CALL ends with EPERM.

static int Deny(long call) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 1;
  Churn(5000);
  void* large = Touch(50 << 20);
  large = realloc(large, 60 << 20);
  printf("large %s\n", large != NULL ? "there" : "absent");
  pid_t child = fork();
  if (child == 0) {
    Churn(100);
    _exit(4);
  }
  return printf("child %d\n", WEXITSTATUS(WaitFor(child))) < 0;
}

static int StrictEnd(void) {
  Churn(100);
  fflush(stdout);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  for (int i = 0; i < 100; ++i) free(malloc(500));
  if (write(1, "strict\n", 7) != 7) return 1;
  syscall(SYS_exit, 5);
  return 0;
}

// Threads.

static void* Work(void* number) {
  Churn((int)(intptr_t)number);
  return NULL;
}
static int Threads(int number) {
  int made = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_t* threads = calloc((size_t)number, sizeof *threads);
  for (int i = 0; i < number; ++i) {
    made += pthread_create(&threads[i], &attributes, Work, (void*)200) == 0;
  }
  for (int i = 0; i < made; ++i) pthread_join(threads[i], NULL);
  return printf("%d threads\n", made) < 0;
}

static int Cancels(int number) {
  int canceled = 0;
  for (int i = 0; i < number; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, Sleep, NULL);
    usleep(200);
    pthread_cancel(thread);
    void* result;
    pthread_join(thread, &result);
    canceled += result == PTHREAD_CANCELED;
  }
  return printf("%d canceled\n", canceled) < 0;
}

static void* AsynchronousWork(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;) continue;
  return unused;
}
static int AsynchronousCancels(int number) {
  for (int i = 0; i < number; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, AsynchronousWork, NULL);
    usleep(100);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
  }
  return printf("%d ended\n", number) < 0;
}

static void* ExitLater(void* unused) {
  Churn(100);
  usleep(20000);
  puts("the last thread");
  exit(6);
  return unused;
}
static int MainLeaves(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, ExitLater, NULL);
  pthread_exit(NULL);
}

static int ExitAmongThreads(void) {
  pthread_t thread;
  for (int i = 0; i < 8; ++i) pthread_create(&thread, NULL, Sleep, NULL);
  Churn(1000);
  exit(7);
}

static void* ForkMany(void* number) {
  for (int i = 0; i < (int)(intptr_t)number; ++i) {
    pid_t child = fork();
    if (child == 0) {
      Churn(20);
      _exit(0);
    }
    if (child > 0) WaitFor(child);
    Churn(20);
  }
  return NULL;
}
static int ThreadsFork(int number) {
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) {
    pthread_create(&threads[i], NULL, ForkMany, (void*)(intptr_t)number);
  }
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  return puts("threads forked") < 0;
}

static ucontext_t main_context, other_context;
static void Other(void) {
  for (;;) {
    Churn(20);
    swapcontext(&other_context, &main_context);
  }
}
static int Contexts(int number) {
  getcontext(&other_context);
  other_context.uc_stack.ss_sp = malloc(65536);
  other_context.uc_stack.ss_size = 65536;
  makecontext(&other_context, Other, 0);
  for (int i = 0; i < number; ++i) swapcontext(&main_context, &other_context);
  return printf("%d switches\n", number) < 0;
}

// Memory.

static void Say(const char* what, const void* block) {
  printf("%s: %s, %s\n", what, block != NULL ? "a block" : "none",
         block != NULL ? "" : strerror(errno));
}
static int Errors(void) {
  volatile size_t huge = PTRDIFF_MAX;
  void* block = NULL;
  errno = 0, Say("malloc", malloc(huge));
  errno = 0, Say("calloc", calloc(huge, 4));
  void* old = malloc(100);
  errno = 0, Say("realloc", realloc(old, huge));
  errno = 0, Say("reallocarray", reallocarray(old, huge, 8));
  errno = 0, Say("aligned_alloc", aligned_alloc(3, 100));
  errno = 0, Say("memalign", memalign(64, huge));
  printf("posix_memalign: %s\n", strerror(posix_memalign(&block, 3, 100)));
  printf("posix_memalign: %s\n", strerror(posix_memalign(&block, 64, huge)));
  errno = 5, free(old), printf("errno is kept: %d\n", errno);
  errno = 0, Say("realloc to 0", realloc(malloc(10), 0));
  Say("malloc of 0", malloc(0));
  return 0;
}

static int Sizes(void) {
  for (size_t size = 1; size < 300000; size = size * 3 + 1) {
    printf("%zu %zu\n", size, malloc_usable_size(malloc(size)));
  }
  struct mallinfo2 found = mallinfo2();
  printf("%zu %zu %zu\n", found.arena, found.uordblks, found.hblks);
  return printf("trim %d, option %d\n", malloc_trim(0),
                mallopt(M_ARENA_MAX, 1)) < 0;
}

static int DoubleFree(void) {
  void* volatile block = malloc(100);
  free(block);
  free(block);
  return 0;
}
static int WrongFree(void) {
  char* volatile block = malloc(100);
  free(block + 8);
  return 0;
}
static int Corrupt(void) {
  char* volatile block = malloc(5000);
  memset(block, 0xff, 5200);
  free(malloc(8000));
  return 0;
}

static int Mappings(int number) {
  int made = 0;
  for (int i = 0; i < number; ++i) {
    void* page =
        mmap(NULL, 4096, i % 2 != 0 ? PROT_READ : PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) break;
    ++made;
  }
  Churn(1000);
  return printf("%d mappings\n", made) < 0;
}

static int Reserve(void) {
  void* room = mmap(NULL, (size_t)1 << 42, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return 1;
  for (int i = 0; i < 100; ++i) {
    mmap((char*)room + ((size_t)i << 30), 8192, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ((char*)room)[(size_t)i << 30] = 1;
  }
  return printf("unmapped %d\n", munmap(room, (size_t)1 << 42)) < 0;
}

static int Breaks(int number) {
  for (int i = 0; i < number; ++i) {
    if (sbrk(4096) == (void*)-1) return 1;
    Churn(50);
  }
  return printf("%d breaks\n", number) < 0;
}

static int Locked(void) {
  printf("%d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
  Churn(1000);
  return Forks(3);
}

static int Protected(void) {
  prctl(PR_SET_DUMPABLE, 0);
  Churn(1000);
  return Forks(5);
}

// Libraries and descriptors.

static int Library(const char* how, int number) {
  for (int i = 0; i < number; ++i) {
    void* library =
        strcmp(how, "namespace") == 0
            ? dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW)
            : dlopen("libz.so.1",
                     RTLD_NOW | RTLD_LOCAL |
                         (strcmp(how, "deep") == 0 ? RTLD_DEEPBIND : 0));
    if (library == NULL) return printf("%s\n", dlerror());
    Churn(10);
    dlclose(library);
  }
  return printf("%d libraries, %s\n", number, how) < 0;
}

static int CloseAll(void) {
  syscall(SYS_close_range, 3, ~0u, 0);
  Churn(3000);
  int descriptor = open("/dev/null", O_RDWR);
  printf("the first is %d\n", descriptor);
  return Forks(3);
}

static int TakeAll(void) {
  int count = 0;
  while (dup(0) >= 0) ++count;
  Churn(3000);
  printf("%s, child %d\n", strerror(errno),
         fork() == 0 ? (_exit(0), 0) : (wait(NULL), 1));
  return count > 2 ? 0 : 1;
}

static int Overwrite(void) {
  for (int descriptor = 3; descriptor < 500; ++descriptor) dup2(0, descriptor);
  Churn(3000);
  return Forks(3);
}

static int Traces(void) {
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    Churn(20);
    _exit(5);
  }
  int status = WaitFor(child);
  long stops = 0;
  while (WIFSTOPPED(status)) {
    ++stops;
    ptrace(PTRACE_CONT, child, 0, 0);
    status = WaitFor(child);
  }
  return printf("%ld stops, status %d\n", stops, WEXITSTATUS(status)) < 0;
}

static void AllocateLate(void) { Churn(500); }

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  int number = count > 2 ? atoi(words[2]) : 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
#define IF(WORD, CALL) \
  if (strcmp(what, WORD) == 0) return CALL
  IF("forks", Forks(number));
  IF("at_once", AllAtOnce(number));
  IF("chain", Chain(number));
  IF("spawns", Spawns(number));
  IF("vforks", Vforks(number));
  IF("exec_chain", ExecChain(number, words[0]));
  IF("exec_in_thread", ExecInThread(words[0]));
  IF("empty_exec", EmptyExec(words[0]));
  IF("kill_parent", KillParent());
  IF("ignore_children", IgnoreChildren(number));
  IF("handler_forks", HandlerForks(number));
  IF("at_fork", AtFork(number));
  IF("storm", SignalStorm(number));
  IF("interrupt", SignalsInterrupt());
  IF("blocked", Blocked());
  IF("handlers", Handlers());
  IF("overflow", Overflow(number));
  IF("faults", Faults(number));
  IF("deny", Deny(number));
  IF("strict", StrictEnd());
  IF("threads", Threads(number));
  IF("cancels", Cancels(number));
  IF("asynchronous", AsynchronousCancels(number));
  IF("main_leaves", MainLeaves());
  IF("exit_among_threads", ExitAmongThreads());
  IF("threads_fork", ThreadsFork(number));
  IF("contexts", Contexts(number));
  IF("errors", Errors());
  IF("sizes", Sizes());
  IF("double_free", DoubleFree());
  IF("wrong_free", WrongFree());
  IF("corrupt", Corrupt());
  IF("mappings", Mappings(number));
  IF("reserve", Reserve());
  IF("breaks", Breaks(number));
  IF("locked", Locked());
  IF("protected", Protected());
  IF("libraries", Library("plain", number));
  IF("deep", Library("deep", number));
  IF("namespace", Library("namespace", number));
  IF("close_all", CloseAll());
  IF("take_all", TakeAll());
  IF("overwrite", Overwrite());
  IF("traces", Traces());
  IF("late",
     (atexit(AllocateLate), at_quick_exit(AllocateLate), quick_exit(8), 0));
  IF("at_exit", (atexit(AllocateLate), 8));
  IF("abort", (Churn(100), abort(), 0));
  IF("leave", (Churn(100), _exit(9), 0));
  fprintf(stderr, "%s: no such word: %s\n", words[0], what);
  return 2;
}
