// Counts how many instructions each thread of a program executes between two
// marks, on a machine without counters: it runs the program step by step.
//
//   count_instructions THREADS PROGRAM [ARGUMENT ...]
//
// A mark is the instruction int3. The program runs freely until that many
// threads have reached a first mark. From there the threads run step by step,
// all at the same time, each up to its second mark. Then the program runs to
// its end. Prints one count per thread, one per line. Then prints the
// addresses, each with the object that contains it, the offset in its file and
// how often it was executed ("/lib/libc.so.6 0x9d0c4 12"). A step takes
// microseconds, so a thread that waits for another thread's lock polls it less
// often than in an ordinary run. x86-64 Linux.

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

enum class State { kBefore, kAtFirstMark, kStepping, kAtSecondMark, kAfter };

struct Thread {
  State state = State::kBefore;
  int64_t step_count = 0;
};

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  std::string path;
};

std::vector<Mapping> ReadMappings(pid_t process) {
  std::ifstream lines("/proc/" + std::to_string(process) + "/maps");
  std::vector<Mapping> mappings;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Mapping mapping;
    char dash;
    std::string rights, device, node;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> rights >>
        mapping.file_offset >> device >> node >> mapping.path;
    mappings.push_back(mapping);
  }
  return mappings;
}

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
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
    for (const auto& [address, count] : executed_) PrintAddress(address, count);
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
    // The stop after exec is not a step.
    if (thread.state == State::kStepping) ++thread.step_count;
    Go(number, 0);
  }

  void PrintAddress(uint64_t address, int64_t count) const {
    for (const Mapping& mapping : mappings_) {
      if (address < mapping.begin || address >= mapping.end) continue;
      std::printf("%s 0x%" PRIx64 " %" PRId64 "\n", mapping.path.c_str(),
                  address - mapping.begin + mapping.file_offset, count);
    }
  }

  void AtMark(Thread* thread) {
    if (thread->state == State::kBefore) {
      if (mappings_.empty()) mappings_ = ReadMappings(process_);
      thread->state = State::kAtFirstMark;
      if (++begun_count_ == thread_count_) {
        MoveAll(State::kAtFirstMark, State::kStepping);
      }
    } else {
      // The instruction of the mark is not part of the program.
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
    if (steps) {
      const long address =
          ptrace(PTRACE_PEEKUSER, number, offsetof(user, regs.rip), nullptr);
      ++executed_[static_cast<uint64_t>(address)];
    }
    ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_CONT, number, nullptr,
           static_cast<intptr_t>(signal));
  }

  const pid_t process_;
  const int thread_count_;
  int begun_count_ = 0;
  int done_count_ = 0;
  std::map<pid_t, Thread> threads_;
  std::vector<Mapping> mappings_;
  std::unordered_map<uint64_t, int64_t> executed_;
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
