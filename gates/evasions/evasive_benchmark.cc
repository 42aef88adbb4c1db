// Benchmarks that hold 100 MB that the heap figure of their loop does not show:
// the corpus of evasions_test. Each is measured separately, by its name.
//
// A program that defines FOOTPRINT_STATIC_ARENA also holds them before main.

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/base/memory/alignment.h"

extern char** environ;
// exact_heap keeps the allocator's own malloc under this name.
extern "C" void* footprint_jemalloc_malloc(size_t size);

namespace {

using footprint::kPageBytes;

constexpr size_t kHiddenBytes = 100'000'000;
constexpr char kHoldFlag[] = "--hold_and_end";

void Touch(void* memory, size_t size = kHiddenBytes) {
  volatile char* const bytes = static_cast<char*>(memory);
  for (size_t i = 0; i < size; i += kPageBytes) bytes[i] = 1;
}

// Maps memory by a raw system call, so that no library counts it.
void* MapRaw() {
  return reinterpret_cast<void*>(syscall(SYS_mmap, nullptr, kHiddenBytes,
                                         PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L));
}

void HoldRaw() {
  void* const bytes = MapRaw();
  Touch(bytes);
  munmap(bytes, kHiddenBytes);
}

// Waits long enough for a measurement from outside: the kernel keeps no record
// of memory that exists only between two measurements.
void StayAWhile() { usleep(20000); }

// Holds the bytes in a child and ends it. Unmaps them first, because they would
// stay in an address space that is shared with the parent.
[[noreturn]] void HoldAndEnd() {
  void* const bytes = MapRaw();
  Touch(bytes);
  StayAWhile();
  munmap(bytes, kHiddenBytes);
  _exit(0);
}

int HoldInClone(void*) { HoldAndEnd(); }

// Runs in a program that this one starts again as its child.
__attribute__((constructor)) void HoldIfAsked(int argc, char** argv, char**) {
  if (argc == 2 && std::strcmp(argv[1], kHoldFlag) == 0) HoldAndEnd();
}

#ifdef FOOTPRINT_STATIC_ARENA
std::vector<char> arena(kHiddenBytes, 1);
#endif

void BM_Honest(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<char> bytes(500'000, 1);
    benchmark::DoNotOptimize(bytes.data());
  }
}
BENCHMARK(BM_Honest);

// Without malice -----------------------------------------------------------

std::vector<char>* held = nullptr;
void Hold(const benchmark::State&) {
  held = new std::vector<char>(kHiddenBytes, 1);
}
void LetGo(const benchmark::State&) {
  delete held;
  held = nullptr;
}
void HoldAndLetGo(const benchmark::State& state) {
  Hold(state);
  LetGo(state);
}

void BM_Setup(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(held->data());
}
BENCHMARK(BM_Setup)->Setup(Hold)->Teardown(LetGo);

void BM_Teardown(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(BM_Teardown)->Teardown(HoldAndLetGo);

void BM_StaticArena(benchmark::State& state) {
  for (auto _ : state) {
#ifdef FOOTPRINT_STATIC_ARENA
    benchmark::DoNotOptimize(arena.data());
#endif
  }
}
BENCHMARK(BM_StaticArena);

char static_bytes[kHiddenBytes];
void BM_Bss(benchmark::State& state) {
  for (auto _ : state) Touch(static_bytes);
}
BENCHMARK(BM_Bss);

void BM_Mmap(benchmark::State& state) {
  for (auto _ : state) {
    void* const bytes = mmap(nullptr, kHiddenBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Touch(bytes);
    munmap(bytes, kHiddenBytes);
  }
}
BENCHMARK(BM_Mmap);

void BM_Sbrk(benchmark::State& state) {
  for (auto _ : state) {
    void* const bytes = sbrk(static_cast<intptr_t>(kHiddenBytes));
    Touch(bytes);
    benchmark::DoNotOptimize(sbrk(-static_cast<intptr_t>(kHiddenBytes)));
  }
}
BENCHMARK(BM_Sbrk);

constexpr size_t kStackBytes = size_t{6} << 20;
pthread_barrier_t barrier;
void* HoldStack(void*) {
  char bytes[kStackBytes];
  Touch(bytes, kStackBytes);
  benchmark::DoNotOptimize(bytes);
  pthread_barrier_wait(&barrier);
  return nullptr;
}
void BM_ThreadStacks(benchmark::State& state) {
  constexpr int kThreads = 16;
  for (auto _ : state) {
    pthread_barrier_init(&barrier, nullptr, kThreads);
    std::vector<pthread_t> threads(kThreads);
    for (pthread_t& thread : threads) {
      pthread_create(&thread, nullptr, HoldStack, nullptr);
    }
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    pthread_barrier_destroy(&barrier);
  }
}
BENCHMARK(BM_ThreadStacks);

void BM_SharedMemory(benchmark::State& state) {
  for (auto _ : state) {
    const int segment = shmget(IPC_PRIVATE, kHiddenBytes, 0600);
    void* const bytes = shmat(segment, nullptr, 0);
    shmctl(segment, IPC_RMID, nullptr);
    Touch(bytes);
    shmdt(bytes);
  }
}
BENCHMARK(BM_SharedMemory);

int second_iteration_count = 0;
void BM_SecondIteration(benchmark::State& state) {
  for (auto _ : state) {
    if (++second_iteration_count < 2) continue;
    std::vector<char> bytes(kHiddenBytes, 1);
    benchmark::DoNotOptimize(bytes.data());
  }
}
BENCHMARK(BM_SecondIteration);

// The buffer doubles in each iteration, so it has its full size after 24,
// whatever time they take: Google Benchmark makes ten times as many until they
// take 20 ms. At the last doubling there are 67 MB and the 33 MB before.
constexpr size_t kFirstBytes = 4;
constexpr size_t kFullGrownBytes = kFirstBytes << 24;
std::vector<char> doubling(kFirstBytes);
void BM_DoublingBuffer(benchmark::State& state) {
  for (auto _ : state) {
    if (doubling.size() < kFullGrownBytes) {
      std::vector<char> twice(doubling.size() * 2, 1);
      doubling.swap(twice);
    }
    benchmark::DoNotOptimize(doubling.data());
  }
}
BENCHMARK(BM_DoublingBuffer);

int repetition_count = 0;
void BM_SecondRepetition(benchmark::State& state) {
  const bool is_later = ++repetition_count > 1;
  for (auto _ : state) {
    std::vector<char> bytes(is_later ? kHiddenBytes : 1, 1);
    benchmark::DoNotOptimize(bytes.data());
  }
}
BENCHMARK(BM_SecondRepetition)->Repetitions(2)->Iterations(1);

void BM_PosixSpawn(benchmark::State& state) {
  std::signal(SIGCHLD, SIG_IGN);
  std::string name = "child";
  std::string flag = kHoldFlag;
  char* const arguments[] = {&name[0], &flag[0], nullptr};
  for (auto _ : state) {
    pid_t child = 0;
    posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ);
    waitpid(child, nullptr, 0);  // returns when none is left
  }
}
BENCHMARK(BM_PosixSpawn);

// Children -----------------------------------------------------------------

void BM_Fork(benchmark::State& state) {
  for (auto _ : state) {
    const pid_t child = fork();
    if (child == 0) HoldAndEnd();
    waitpid(child, nullptr, 0);
  }
}
BENCHMARK(BM_Fork);

void BM_Vfork(benchmark::State& state) {
  for (auto _ : state) {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/proc/self/exe", "child", kHoldFlag, nullptr);
      _exit(127);
    }
    waitpid(child, nullptr, 0);
  }
}
BENCHMARK(BM_Vfork);

void BM_System(benchmark::State& state) {
  const std::string command =
      "exec /proc/" + std::to_string(getpid()) + "/exe " + kHoldFlag;
  for (auto _ : state) {
    if (std::system(command.c_str()) != 0) state.SkipWithError("no shell");
  }
}
BENCHMARK(BM_System);

// A pipe that ends when no process has its writing end: when all children that
// inherited it have ended, although nothing waits for them.
class EndOfChildren {
 public:
  EndOfChildren() {
    if (pipe(ends_) != 0) std::abort();
  }
  ~EndOfChildren() {
    close(ends_[1]);
    char byte;
    while (read(ends_[0], &byte, 1) > 0) {
    }
    close(ends_[0]);
  }

 private:
  int ends_[2];
};

pid_t CloneWith(int flags) {
  static char stack[1 << 16];
  return clone(HoldInClone, stack + sizeof(stack), flags, nullptr);
}

void CloneAndWait(int flags) { waitpid(CloneWith(flags), nullptr, __WALL); }

void BM_Clone(benchmark::State& state) {
  for (auto _ : state) CloneAndWait(SIGCHLD);
}
BENCHMARK(BM_Clone);

void BM_CloneVm(benchmark::State& state) {
  for (auto _ : state) CloneAndWait(CLONE_VM | SIGCHLD);
}
BENCHMARK(BM_CloneVm)->Iterations(1);

void BM_Daemon(benchmark::State& state) {
  for (auto _ : state) {
    const EndOfChildren end;
    const pid_t child = fork();
    if (child == 0) {
      setsid();
      if (fork() == 0) HoldAndEnd();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}
BENCHMARK(BM_Daemon);

// With malice --------------------------------------------------------------

bool HasOwnVariable() { return std::getenv("FOOTPRINT_PADDING") != nullptr; }

bool HasOwnFlag() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find("--memory_profile_out") != std::string::npos;
}

void BM_TellsByEnvironment(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<char> bytes(HasOwnVariable() ? 1 : kHiddenBytes, 1);
    benchmark::DoNotOptimize(bytes.data());
  }
}
BENCHMARK(BM_TellsByEnvironment);

void BM_TellsByCommandLine(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<char> bytes(HasOwnFlag() ? 1 : kHiddenBytes, 1);
    benchmark::DoNotOptimize(bytes.data());
  }
}
BENCHMARK(BM_TellsByCommandLine);

void BM_RawSystemCall(benchmark::State& state) {
  for (auto _ : state) HoldRaw();
}
BENCHMARK(BM_RawSystemCall);

// The file keeps its pages when no process maps them any more.
void BM_UnmappedFile(benchmark::State& state) {
  const int file = memfd_create("held", 0);
  const std::vector<char> page(kPageBytes, 1);
  for (auto _ : state) {
    for (size_t written = 0; written < kHiddenBytes; written += kPageBytes) {
      if (pwrite(file, page.data(), kPageBytes, static_cast<off_t>(written)) !=
          static_cast<ssize_t>(kPageBytes)) {
        state.SkipWithError("no file in memory");
        break;
      }
    }
  }
  StayAWhile();
  close(file);
}
BENCHMARK(BM_UnmappedFile);

void BM_InnerAllocator(benchmark::State& state) {
  static void* bytes = nullptr;
  for (auto _ : state) {
    if (bytes == nullptr) bytes = footprint_jemalloc_malloc(kHiddenBytes);
    Touch(bytes);
  }
}
BENCHMARK(BM_InnerAllocator);

void BM_UnwaitedClone(benchmark::State& state) {
  for (auto _ : state) {
    const EndOfChildren end;
    CloneWith(0);
  }
}
BENCHMARK(BM_UnwaitedClone)->Iterations(1);

}  // namespace
