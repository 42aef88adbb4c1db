#include "footprint/profiling/samples/processor_time.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/samples/stack_tally_writer.h"
#include "footprint/profiling/sites/current_stack.h"
#include "footprint/profiling/sites/thread_number.h"
#include "footprint/profiling/stacks/readable_stack.h"
#include "footprint/profiling/stacks/stack_end.h"
#include "footprint/profiling/stacks/stack_unwinder.h"

namespace footprint::profiling_internal {
namespace {

// The signal that glibc calls SIGSETXID.
constexpr int kSignal = 33;
// A small limit, because signal handlers may have little stack.
constexpr int kMaxSampledCalls = 128;
constexpr int kMaxStarts = 1024;

StackTallyWriter writer;
int64_t interval_ns = 0;
pthread_key_t thread_end_key;
bool has_thread_end_key = false;

struct ThreadClock {
  bool has_timer;
  int timer;
  // The values at the last sample.
  int64_t total_ns;
  int64_t system_ns;
  uint64_t sample_number;
};
__thread ThreadClock thread_clock __attribute__((tls_model("initial-exec")));

// The argument of sigaction, as the kernel sees it: glibc's own sigaction
// refuses the signal.
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

// glibc's handler, once it has one.
std::atomic<void (*)(int, siginfo_t*, void*)> next_handler{nullptr};

int64_t ToNs(const timespec& time) {
  return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
}

int64_t ThreadTimeNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return ToNs(now);
}

int64_t ThreadSystemTimeNs() {
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return 0;
  return usage.ru_stime.tv_sec * int64_t{1000000000} +
         usage.ru_stime.tv_usec * int64_t{1000};
}

// Returns the time that the thread used since the last call. The kernel scales
// its system time, so the part that exceeds the whole is left for the next
// call.
TallyAddition TakeTime(ThreadClock* clock, int64_t sample_count) {
  const int64_t total_ns = ThreadTimeNs();
  const int64_t used_ns = std::max<int64_t>(0, total_ns - clock->total_ns);
  const int64_t system_ns =
      std::clamp<int64_t>(ThreadSystemTimeNs() - clock->system_ns, 0, used_ns);
  clock->total_ns = total_ns;
  clock->system_ns += system_ns;
  TallyAddition addition;
  addition.sample_count = sample_count;
  addition.amounts[0] = used_ns - system_ns;
  addition.amounts[1] = system_ns;
  return addition;
}

// The timer repeats, so sampling goes on if a signal is lost.
void ArmTimer(ThreadClock* clock) {
  const uint64_t random = RandomAt(ThreadNumber(), ++clock->sample_number);
  const auto distance_ns =
      interval_ns / 2 +
      static_cast<int64_t>(random % static_cast<uint64_t>(interval_ns));
  const auto to_timespec = [](int64_t ns) {
    return timespec{static_cast<time_t>(ns / 1000000000), ns % 1000000000};
  };
  const itimerspec time = {to_timespec(2 * interval_ns),
                           to_timespec(distance_ns)};
  syscall(SYS_timer_settime, clock->timer, 0, &time, nullptr);
}

#ifdef __x86_64__

// Reads the stack at which the signal interrupted the thread.
int InterruptedStack(const void* context,
                     uintptr_t (&calls)[kMaxSampledCalls]) {
  const greg_t* const registers =
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  StackFrame frame;
  frame.program_counter = static_cast<uintptr_t>(registers[REG_RIP]);
  frame.stack_pointer = static_cast<uintptr_t>(registers[REG_RSP]);
  frame.frame_pointer = static_cast<uintptr_t>(registers[REG_RBP]);
  frame.is_return_address = false;
  uintptr_t end = FindStackEnd(frame.stack_pointer);
  if (end == 0) end = ReadableStackEnd(frame.stack_pointer);
  // Code that breaks the rules for stacks must not make us read elsewhere.
  uintptr_t stack_pointers[kMaxSampledCalls];
  const int count = UnwindStack(
      frame, end, calls, end == 0 ? 1 : kMaxSampledCalls, stack_pointers);
  // Readers expect an address behind the instruction, like a return address.
  ++calls[0];
  return AddInterpreterCalls(stack_pointers, count, calls, kMaxSampledCalls);
}

void TakeSample(int number, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || info->si_ptr != &thread_end_key) {
    const auto next = next_handler.load(std::memory_order_acquire);
    if (next != nullptr) next(number, info, context);
    return;
  }
  ThreadClock* const clock = &thread_clock;
  if (!clock->has_timer) return;
  const int error = errno;
  uintptr_t calls[kMaxSampledCalls];
  const int count = InterruptedStack(context, calls);
  writer.Add(calls, count, TakeTime(clock, 1));
  ArmTimer(clock);
  errno = error;
}

extern "C" void FootprintReturnFromSignal();
asm(".text\n\t"
    ".type FootprintReturnFromSignal, @function\n"
    "FootprintReturnFromSignal:\n\t"
    "mov $15, %eax\n\t"  // rt_sigreturn
    "syscall\n\t"
    ".size FootprintReturnFromSignal, . - FootprintReturnFromSignal");

// Installs the handler unless it is installed. glibc installs its own when the
// process starts its second thread.
bool InstallHandler() {
  constexpr unsigned long kHasRestorer = 0x04000000;
  KernelAction before;
  if (syscall(SYS_rt_sigaction, kSignal, nullptr, &before, sizeof(uint64_t)) !=
      0) {
    return false;
  }
  if (before.handler == TakeSample) return true;
  if (reinterpret_cast<uintptr_t>(before.handler) > 1) {
    next_handler.store(before.handler, std::memory_order_release);
  }
  // All signals are blocked meanwhile, so that no other handler runs on top.
  const KernelAction action = {
      TakeSample, SA_SIGINFO | SA_RESTART | SA_ONSTACK | kHasRestorer,
      FootprintReturnFromSignal, ~uint64_t{0}};
  return syscall(SYS_rt_sigaction, kSignal, &action, nullptr,
                 sizeof(uint64_t)) == 0;
}

#else

bool InstallHandler() { return false; }

#endif

// Returns whether the kernel is 5.11 or newer, whose timers of processor time
// interrupt no system call.
bool KernelIsNewEnough() {
  utsname kernel;
  int major = 0;
  int minor = 0;
  if (uname(&kernel) != 0 ||
      sscanf(kernel.release, "%d.%d", &major, &minor) != 2) {
    return false;
  }
  return major > 5 || (major == 5 && minor >= 11);
}

bool BeginTimer(ThreadClock* clock) {
  // The number is assigned here, because a handler must not do it first.
  ThreadNumber();
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = &thread_end_key;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event,
              &clock->timer) != 0) {
    writer.AddMissedThread();
    return false;
  }
  clock->total_ns = ThreadTimeNs();
  clock->system_ns = ThreadSystemTimeNs();
  __atomic_store_n(&clock->has_timer, true, __ATOMIC_RELEASE);
  ArmTimer(clock);
  return true;
}

// Counts the remaining time for no known stack; it is all the time of a short
// thread.
void EndTimer(ThreadClock* clock) {
  if (!clock->has_timer) return;
  __atomic_store_n(&clock->has_timer, false, __ATOMIC_RELEASE);
  syscall(SYS_timer_delete, clock->timer);
  writer.Add(nullptr, 0, TakeTime(clock, 0));
}

void EndThread(void* /*value*/) { EndTimer(&thread_clock); }

// The start of a thread that is being created. It lies in a static table
// because the heap is the program's.
struct WaitingStart {
  std::atomic<bool> is_taken;
  ThreadStart start;
};
WaitingStart waiting_starts[kMaxStarts];

void* RunTimedThread(void* given) {
  auto* const waiting = static_cast<WaitingStart*>(given);
  const ThreadStart start = waiting->start;
  waiting->is_taken.store(false, std::memory_order_release);
  thread_clock = {};
  if (InstallHandler() && BeginTimer(&thread_clock)) {
    pthread_setspecific(thread_end_key, &thread_clock);
  }
  return start.function(start.argument);
}

}  // namespace

bool BeginProcessorTime(int folder, const char* file_name,
                        int64_t sampling_interval_ns) {
  // After a fork, the state is the parent's.
  thread_clock = {};
  writer.Close();
  for (WaitingStart& each : waiting_starts) each.is_taken = false;
  if (!KernelIsNewEnough()) return false;
  if (!has_thread_end_key) {
    if (pthread_key_create(&thread_end_key, EndThread) != 0) return false;
    has_thread_end_key = true;
  }
  interval_ns = std::max<int64_t>(sampling_interval_ns, 1);
  if (!writer.Begin(folder, file_name, interval_ns)) return false;
  if (!InstallHandler() || !BeginTimer(&thread_clock)) {
    writer.Close();
    return false;
  }
  return true;
}

ThreadStart TimedThread(ThreadStart start) {
  if (!writer.is_open()) return start;
  for (WaitingStart& each : waiting_starts) {
    bool is_taken = false;
    if (each.is_taken.compare_exchange_strong(is_taken, true,
                                              std::memory_order_acquire)) {
      each.start = start;
      return {RunTimedThread, &each};
    }
  }
  writer.AddMissedThread();
  return start;
}

void ForgetTimedThread(ThreadStart start) {
  if (start.function != RunTimedThread) return;
  static_cast<WaitingStart*>(start.argument)
      ->is_taken.store(false, std::memory_order_release);
}

void AddRemainingProcessorTime() { EndTimer(&thread_clock); }

void ForgetCodeOfProcessorTime() { writer.ForgetCode(); }

}  // namespace footprint::profiling_internal
