// A program that does what preloaded agents die of, for tests of memprof: each
// argument is done in turn. Blocks are of 10,248 bytes, which glibc
// hands out as they are; heaps are known by construction.
//
//   keys=N        N threads end with a key whose destructor allocates 4 times
//   objects=N     N threads end with a thread_local object that allocates
//   detached=N    N detached threads allocate until the process has gone
//   stacks=N      N threads with the least stack that pthread allows allocate
//   libraries=DIR every library in the folder is loaded, its thread-local
//                 storage used by a new thread, and then unloaded
//   storm=N       N children by fork while 2 threads allocate and map: each
//                 child allocates 10 blocks and starts a thread
//   handler=N     a signal each millisecond whose handler allocates, for N ms
//   inside=N      the same where the handler may interrupt malloc itself
//   map=N         the same where the handler maps memory and may interrupt
//                 mmap itself
//   beside=N      the same where it may interrupt malloc, while a thread maps
//   jump=N        N times a handler leaves a computation by siglongjmp
//   recover       a stack overflow inside of nested allocations, left by
//                 siglongjmp; then 100 blocks
//   ends          a block by atexit, and 200 at once in the last destructor
//   daemon        2 forks, each descriptor closed; the grandchild holds 300
//                 blocks and leaves by _exit once the file "go" is gone
//   chroot=DIR    changes its root and its user, then allocates 20 blocks
//   limit=WHAT    AS, NPROC, NOFILE or FSIZE is made tight, then 20 blocks
//   strict        a child that may only read, write and exit allocates
//   clone=HOW     a child without fork's handlers holds 500 blocks: HOW is
//                 clone, _Fork, system_call (clone) or clone3
//   refused       system calls with wrong arguments, and their errors
//   unset=PATH    runs the program without LD_PRELOAD, with what follows
//   threads=N     N threads at once hold 100 blocks each, freed by others
//   swap=A:B      loads A, calls it, unloads it; B the same, at its addresses
//   close         closes every descriptor above 2
//   descriptors=FILE  writes the descriptors below 1,000 that are open
//   die=N         ends by the signal
//   hold=N        N blocks that are kept
//   sleep=N       N milliseconds

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

namespace {

constexpr size_t kBlockBytes = 10248;

[[noreturn]] void Fail(const char* what) {
  perror(what);
  _exit(99);
}

__attribute__((noinline)) void* Allocate() {
  void* const block = malloc(kBlockBytes);
  if (block == nullptr) Fail("malloc");
  memset(block, 1, kBlockBytes);
  return block;
}

std::vector<void*> held;

__attribute__((noinline)) void Hold(int count) {
  for (int i = 0; i < count; ++i) held.push_back(Allocate());
}

void SleepMs(int ms) { usleep(static_cast<useconds_t>(ms) * 1000); }

template <typename Function>
void RunThreads(int count, Function* function, void* argument,
                const pthread_attr_t* attributes = nullptr) {
  std::vector<pthread_t> threads(static_cast<size_t>(count));
  for (pthread_t& thread : threads) {
    if (pthread_create(&thread, attributes, function, argument) != 0) {
      Fail("pthread_create");
    }
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

// Allocates in each of the rounds that pthread gives a key's destructor.
pthread_key_t key;
void AllocateInDestructor(void* rounds_left) {
  free(Allocate());
  free(rounds_left);
  static thread_local int rounds = 0;
  if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key, Allocate());
  }
}

void* UseKey(void*) {
  pthread_setspecific(key, Allocate());
  return nullptr;
}

struct AllocatesAtEnd {
  void* block = Allocate();
  ~AllocatesAtEnd() {
    free(Allocate());
    free(block);
  }
};

void* UseObject(void*) {
  static thread_local AllocatesAtEnd object;
  *static_cast<char*>(object.block) = 2;
  return nullptr;
}

void* AllocateForever(void*) {
  for (;;) {
    free(Allocate());
    void* const mapped = mmap(nullptr, 65536, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(mapped, 65536);
  }
}

void StartDetached(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, AllocateForever, nullptr) != 0) {
      Fail("pthread_create");
    }
    pthread_detach(thread);
  }
}

void* AllocateOnce(void*) {
  free(Allocate());
  return nullptr;
}

void UseSmallStacks(int count) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) != 0) {
    Fail("pthread_attr_setstacksize");
  }
  RunThreads(count, AllocateOnce, nullptr, &attributes);
}

void* Call(void* function) {
  reinterpret_cast<void (*)()>(function)();
  return nullptr;
}

void UseLibraries(const char* folder) {
  std::vector<void*> objects;
  DIR* const directory = opendir(folder);
  if (directory == nullptr) Fail(folder);
  while (const dirent* entry = readdir(directory)) {
    if (strstr(entry->d_name, ".so") == nullptr) continue;
    const std::string path = std::string(folder) + "/" + entry->d_name;
    void* const object = dlopen(path.c_str(), RTLD_NOW);
    if (object == nullptr) {
      fprintf(stderr, "%s\n", dlerror());
      _exit(99);
    }
    objects.push_back(object);
    RunThreads(1, Call, dlsym(object, "UseThreadStorage"));
  }
  closedir(directory);
  for (void* object : objects) dlclose(object);
}

void ForkWhileThreadsAllocate(int count) {
  StartDetached(2);
  for (int i = 0; i < count; ++i) {
    const pid_t process = fork();
    if (process < 0) Fail("fork");
    if (process == 0) {
      alarm(20);
      Hold(10);
      RunThreads(1, AllocateOnce, nullptr);
      _exit(0);
    }
    int status = 0;
    if (waitpid(process, &status, 0) != process || status != 0) {
      fprintf(stderr, "child %d of %d ended with status %d\n", i, count,
              status);
      _exit(98);
    }
  }
}

// A signal each millisecond of processor time.
void StartTimer(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  const itimerval timer = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void StopTimer() {
  const itimerval timer = {};
  setitimer(ITIMER_PROF, &timer, nullptr);
  signal(SIGPROF, SIG_IGN);
}

std::atomic<int> handled{0};

void AllocateInHandler(int) {
  void* const block = malloc(300);
  memset(block, 1, 300);
  free(block);
  ++handled;
}

volatile uint64_t sum = 0;
__attribute__((noinline)) void Compute(int rounds) {
  for (int i = 0; i < rounds; ++i) sum = sum + static_cast<uint64_t>(i);
}

void HandleWhileComputing(int count) {
  StartTimer(AllocateInHandler);
  while (handled < count) Compute(10000);
  StopTimer();
}

// Allocates small blocks by jemalloc's lock-free path, at the peak.
void HandleInsideMalloc(int count) {
  std::vector<void*> blocks(4000);
  StartTimer(AllocateInHandler);
  while (handled < count) {
    for (void*& block : blocks) block = malloc(32);
    for (void* block : blocks) free(block);
  }
  StopTimer();
}

void MapPage() {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) Fail("mmap");
  munmap(page, 4096);
}

void MapInHandler(int) {
  MapPage();
  ++handled;
}

void HandleInsideMmap(int count) {
  StartTimer(MapInHandler);
  while (handled < count) MapPage();
  StopTimer();
}

void* MapUntilHandled(void* count) {
  while (handled < *static_cast<int*>(count)) MapPage();
  return nullptr;
}

// Only this thread has the handler: a signal per millisecond of its own time.
void HandleBesideMmap(int count) {
  sigset_t profiling_signal;
  sigset_t mask_before;
  sigemptyset(&profiling_signal);
  sigaddset(&profiling_signal, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &profiling_signal, &mask_before);
  pthread_t mapping;
  if (pthread_create(&mapping, nullptr, MapUntilHandled, &count) != 0) {
    Fail("pthread_create");
  }
  pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  StartTimer(MapInHandler);
  while (handled < count) free(malloc(100));
  pthread_join(mapping, nullptr);
  StopTimer();
}

sigjmp_buf place;
volatile sig_atomic_t may_jump = 0;

void Jump(int) {
  free(Allocate());
  if (may_jump != 0) siglongjmp(place, 1);
}

void LeaveHandlers(int count) {
  StartTimer(Jump);
  for (volatile int i = 0; i < count; i = i + 1) {
    if (sigsetjmp(place, 1) == 0) {
      may_jump = 1;
      for (;;) Compute(1000);
    }
    may_jump = 0;
    free(Allocate());
  }
  StopTimer();
}

// Each frame allocates, so that the overflow comes inside malloc as well.
__attribute__((noinline)) int AllocateAndRecurse(int depth) {
  volatile char frame[48];
  void* const block = malloc(48);
  frame[0] = static_cast<char>(depth);
  const int result = AllocateAndRecurse(depth + 1) + frame[0];
  free(block);
  return result;
}

void LeaveOverflow(int) { siglongjmp(place, 1); }

void RecoverFromOverflow() {
  static char stack[65536];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = LeaveOverflow;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  for (volatile int round = 0; round < 20; round = round + 1) {
    if (sigsetjmp(place, 1) == 0) AllocateAndRecurse(0);
  }
  signal(SIGSEGV, SIG_DFL);
  Hold(100);
}

bool has_ends = false;
void* volatile held_at_end = nullptr;
void AllocateAtExit() { held_at_end = Allocate(); }
// Runs after the destructors of objects and the functions of atexit.
__attribute__((destructor(102))) void AllocateInLastDestructor() {
  if (has_ends) held_at_end = malloc(200 * kBlockBytes);
}

__attribute__((constructor(101))) void AllocateBeforeMain() {
  free(Allocate());
}
void AllocateBeforeConstructors() { free(Allocate()); }
__attribute__((section(".preinit_array"),
               used)) void (*const preinit)() = AllocateBeforeConstructors;

void BecomeDaemon() {
  const pid_t process = fork();
  if (process == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int file = 0; file < 4096; ++file) close(file);
    Hold(300);
    while (access("go", F_OK) == 0) SleepMs(5);
    Hold(100);
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
}

void ChangeRoot(const char* folder) {
  if (chroot(folder) != 0 || chdir("/") != 0) Fail("chroot");
  if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) {
    Fail("setuid");
  }
  const pid_t process = fork();
  if (process == 0) {
    Hold(15);
    _exit(0);
  }
  waitpid(process, nullptr, 0);
  Hold(20);
}

void TightenLimit(const std::string& what) {
  const struct {
    const char* name;
    int resource;
    rlim_t value;
  } kLimits[] = {{"AS", RLIMIT_AS, 512 << 20},
                 {"NPROC", RLIMIT_NPROC, 1},
                 {"NOFILE", RLIMIT_NOFILE, 3},
                 {"FSIZE", RLIMIT_FSIZE, 0}};
  for (const auto& each : kLimits) {
    if (what != each.name) continue;
    const rlimit limit = {each.value, each.value};
    if (setrlimit(static_cast<__rlimit_resource>(each.resource), &limit) != 0) {
      Fail("setrlimit");
    }
    if (what == "AS") {
      // The call must fail, and the program handles that.
      if (malloc(size_t{1} << 30) != nullptr) _exit(97);
    }
    const pid_t process = what == "NPROC" ? 0 : fork();
    if (process == 0 && what != "NPROC") {
      Hold(5);
      _exit(0);
    }
    if (process > 0) waitpid(process, nullptr, 0);
    Hold(20);
    return;
  }
  Fail("no such limit");
}

void AllocateInStrictMode() {
  const pid_t process = fork();
  if (process == 0) {
    Hold(20);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    for (int i = 0; i < 2000; ++i) free(malloc(100));
    syscall(SYS_exit, 7);
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) {
    fprintf(stderr, "the strict child ended with status %d\n", status);
    _exit(96);
  }
}

int HoldInClone(void*) {
  Hold(500);
  _exit(0);
}

pid_t CloneBy(const std::string& how) {
  static char stack[1 << 18];
  if (how == "clone") {
    return clone(HoldInClone, stack + sizeof(stack), SIGCHLD, nullptr);
  }
  if (how == "_Fork") return _Fork();
  if (how == "system_call") {
    return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  }
  // Passes clone_args of linux/sched.h up to the size of its first version.
  uint64_t arguments[8] = {};
  arguments[4] = SIGCHLD;
  return static_cast<pid_t>(syscall(SYS_clone3, arguments, sizeof(arguments)));
}

void Clone(const char* how) {
  const pid_t process = CloneBy(how);
  if (process < 0) Fail("clone");
  if (process == 0) HoldInClone(nullptr);
  waitpid(process, nullptr, 0);
}

// The results are those of the C library's syscall.
void MakeRefusedCalls() {
  errno = 0;
  if (syscall(SYS_close, -1) != -1 || errno != EBADF) _exit(94);
  if (syscall(SYS_clone3, nullptr, 64) != -1 || errno == 0) _exit(93);
  if (syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0) != -1 || errno != EINVAL) {
    _exit(92);
  }
  if (syscall(SYS_getpid) != getpid()) _exit(91);
  // A system call of six arguments.
  void* const pages = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L));
  if (pages == MAP_FAILED) _exit(90);
  *static_cast<char*>(pages) = 1;
  munmap(pages, 4096);
}

[[noreturn]] void RunWithoutPreload(const char* path, char** arguments) {
  unsetenv("LD_PRELOAD");
  pid_t process;
  if (posix_spawn(&process, path, nullptr, nullptr, arguments, environ) != 0) {
    Fail(path);
  }
  int status = 0;
  waitpid(process, &status, 0);
  exit(WEXITSTATUS(status));
}

pthread_barrier_t barrier;
std::vector<std::vector<void*>> blocks_of_threads;

void* AllocateForNext(void* number) {
  const size_t own = reinterpret_cast<size_t>(number);
  std::vector<void*>& blocks = blocks_of_threads[own];
  for (void*& block : blocks) block = Allocate();
  pthread_barrier_wait(&barrier);
  for (void* block : blocks_of_threads[(own + 1) % blocks_of_threads.size()]) {
    free(block);
  }
  return nullptr;
}

void FreeAcrossThreads(int count) {
  const size_t size = static_cast<size_t>(count);
  blocks_of_threads.assign(size, std::vector<void*>(100));
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(count));
  std::vector<pthread_t> threads(size);
  for (size_t i = 0; i < size; ++i) {
    pthread_create(&threads[i], nullptr, AllocateForNext,
                   reinterpret_cast<void*>(i));
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

void SwapLibraries(const std::string& paths) {
  const size_t middle = paths.find(':');
  const std::string path = paths.substr(0, middle);
  const std::string other = paths.substr(middle + 1);
  for (int round = 0; round < 20; ++round) {
    // The same path with other code.
    unlink("swapped.so");
    if (symlink((round % 2 == 0 ? path : other).c_str(), "swapped.so") != 0) {
      Fail("symlink");
    }
    void* const object = dlopen("./swapped.so", RTLD_NOW);
    if (object == nullptr) {
      fprintf(stderr, "%s\n", dlerror());
      _exit(99);
    }
    reinterpret_cast<void (*)()>(dlsym(object, "UseThreadStorage"))();
    if (dlclose(object) != 0) Fail("dlclose");
  }
}

void ListDescriptors(const char* path) {
  std::string list;
  for (int file = 0; file < 1000; ++file) {
    if (fcntl(file, F_GETFD) >= 0) list += std::to_string(file) + "\n";
  }
  FILE* const output = fopen(path, "w");
  if (output == nullptr) Fail(path);
  fputs(list.c_str(), output);
  fclose(output);
}

void Die(int number) {
  signal(number, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  raise(number);
}

// A step of the arguments, "name=value"; `argument` may be changed, as all
// behind it.
struct Step {
  const char* name;
  void (*run)(const char* value, char** argument);
};

int Count(const char* value) { return atoi(value); }

void CloseDescriptors() {
  for (int file = 3; file < 4096; ++file) close(file);
}

constexpr Step kStepsOfThreads[] = {
    {"keys",
     [](const char* value, char**) {
       pthread_key_create(&key, AllocateInDestructor);
       RunThreads(Count(value), UseKey, nullptr);
     }},
    {"objects", [](const char* value,
                   char**) { RunThreads(Count(value), UseObject, nullptr); }},
    {"detached",
     [](const char* value, char**) { StartDetached(Count(value)); }},
    {"stacks", [](const char* value, char**) { UseSmallStacks(Count(value)); }},
    {"libraries", [](const char* value, char**) { UseLibraries(value); }},
    {"threads",
     [](const char* value, char**) { FreeAcrossThreads(Count(value)); }},
    {"swap", [](const char* value, char**) { SwapLibraries(value); }},
};

constexpr Step kStepsOfSignals[] = {
    {"handler",
     [](const char* value, char**) { HandleWhileComputing(Count(value)); }},
    {"inside",
     [](const char* value, char**) { HandleInsideMalloc(Count(value)); }},
    {"map", [](const char* value, char**) { HandleInsideMmap(Count(value)); }},
    {"beside",
     [](const char* value, char**) { HandleBesideMmap(Count(value)); }},
    {"jump", [](const char* value, char**) { LeaveHandlers(Count(value)); }},
    {"recover", [](const char*, char**) { RecoverFromOverflow(); }},
    {"die", [](const char* value, char**) { Die(Count(value)); }},
};

constexpr Step kStepsOfProcesses[] = {
    {"storm",
     [](const char* value, char**) { ForkWhileThreadsAllocate(Count(value)); }},
    {"ends",
     [](const char*, char**) {
       has_ends = true;
       atexit(AllocateAtExit);
     }},
    {"daemon", [](const char*, char**) { BecomeDaemon(); }},
    {"chroot", [](const char* value, char**) { ChangeRoot(value); }},
    {"limit", [](const char* value, char**) { TightenLimit(value); }},
    {"strict", [](const char*, char**) { AllocateInStrictMode(); }},
    {"clone", [](const char* value, char**) { Clone(value); }},
    {"refused", [](const char*, char**) { MakeRefusedCalls(); }},
    {"unset",
     [](const char* value, char** argument) {
       *argument = const_cast<char*>(value);
       RunWithoutPreload(value, argument);
     }},
    {"close", [](const char*, char**) { CloseDescriptors(); }},
    {"descriptors", [](const char* value, char**) { ListDescriptors(value); }},
    {"hold", [](const char* value, char**) { Hold(Count(value)); }},
    {"sleep", [](const char* value, char**) { SleepMs(Count(value)); }},
};

template <size_t count>
const Step* Find(const Step (&steps)[count], const char* name, size_t size) {
  for (const Step& step : steps) {
    if (strlen(step.name) == size && strncmp(step.name, name, size) == 0) {
      return &step;
    }
  }
  return nullptr;
}

bool RunStep(char** argument) {
  const size_t size = strcspn(*argument, "=");
  const char* const value =
      (*argument)[size] == '\0' ? "0" : *argument + size + 1;
  const Step* step = Find(kStepsOfThreads, *argument, size);
  if (step == nullptr) step = Find(kStepsOfSignals, *argument, size);
  if (step == nullptr) step = Find(kStepsOfProcesses, *argument, size);
  if (step == nullptr) return false;
  step->run(value, argument);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  held.reserve(100000);
  for (int i = 1; i < argc; ++i) {
    if (!RunStep(argv + i)) {
      fprintf(stderr, "no such step: %s\n", argv[i]);
      return 95;
    }
  }
  return 0;
}
