// How many instructions each thread of a program executes between two marks,
// on a machine without counters: it runs the program step by step.
//
//   count_instructions THREADS PROGRAM [ARGUMENT ...]
//
// A mark is the instruction int3. The program runs freely until that many
// threads stand at a first mark; from there each takes one step after the
// other, all at once, up to its second mark; then the program runs to its end.
// Prints one count a thread, in a line each. A step takes microseconds, so a
// thread that waits for another's lock looks again more seldom than in an
// ordinary run. x86-64 Linux.

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace {

enum class State { kBefore, kAtFirstMark, kStepping, kAtSecondMark, kAfter };

struct Thread {
  State state = State::kBefore;
  int64_t step_count = 0;
};

[[noreturn]] void Fail(const char* reason) {
  std::fprintf(stderr, "count_instructions: %s\n", reason);
  std::exit(1);
}

class Stepper {
 public:
  Stepper(pid_t process, int thread_count)
      : process_(process), thread_count_(thread_count) {}

  // Returns the program's exit status.
  int Run() {
    for (;;) {
      int status = 0;
      const pid_t thread = waitpid(-1, &status, __WALL);
      if (thread < 0) Fail("the program was lost");
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (thread != process_) continue;
        return WIFEXITED(status) ? WEXITSTATUS(status)
                                 : 128 + WTERMSIG(status);
      }
      Stopped(thread, status);
    }
  }

  void Print() const {
    for (const auto& [number, thread] : threads_) {
      if (thread.state == State::kAfter) {
        std::printf("%" PRId64 "\n", thread.step_count);
      }
    }
  }

  bool IsComplete() const { return done_count_ == thread_count_; }

 private:
  void Stopped(pid_t number, int status) {
    Thread& thread = threads_[number];
    const int signal = WSTOPSIG(status);
    const bool is_event = (status >> 16) != 0;
    if (is_event || signal == SIGSTOP) return Go(number, 0);
    if (signal != SIGTRAP) return Go(number, signal);
    siginfo_t info = {};
    ptrace(PTRACE_GETSIGINFO, number, nullptr, &info);
    if (info.si_code == SI_KERNEL) return AtMark(&thread);
    // The stop after exec has no step behind it.
    if (thread.state == State::kStepping) ++thread.step_count;
    Go(number, 0);
  }

  void AtMark(Thread* thread) {
    if (thread->state == State::kBefore) {
      thread->state = State::kAtFirstMark;
      if (++begun_count_ == thread_count_) {
        MoveAll(State::kAtFirstMark, State::kStepping);
      }
    } else {
      // The mark itself is none of the program's.
      thread->state = State::kAtSecondMark;
      if (++done_count_ == thread_count_) {
        MoveAll(State::kAtSecondMark, State::kAfter);
      }
    }
  }

  void MoveAll(State from, State to) {
    for (auto& [number, thread] : threads_) {
      if (thread.state != from) continue;
      thread.state = to;
      Go(number, 0);
    }
  }

  void Go(pid_t number, int signal) {
    const bool steps = threads_[number].state == State::kStepping;
    ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_CONT, number, nullptr,
           static_cast<intptr_t>(signal));
  }

  const pid_t process_;
  const int thread_count_;
  int begun_count_ = 0;
  int done_count_ = 0;
  std::map<pid_t, Thread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  const int thread_count = argc > 2 ? std::atoi(argv[1]) : 0;
  if (thread_count < 1) {
    std::fprintf(stderr,
                 "usage: count_instructions THREADS PROGRAM [ARGUMENT ...]\n");
    return 2;
  }
  const pid_t process = fork();
  if (process == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  if (process < 0 || waitpid(process, &status, 0) != process ||
      !WIFSTOPPED(status)) {
    Fail("the program cannot be traced");
  }
  ptrace(PTRACE_SETOPTIONS, process, nullptr,
         PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC);
  ptrace(PTRACE_CONT, process, nullptr, nullptr);
  Stepper stepper(process, thread_count);
  const int exit_status = stepper.Run();
  if (exit_status != 0) Fail("the program failed");
  if (!stepper.IsComplete()) Fail("not every thread came to two marks");
  stepper.Print();
  return 0;
}
