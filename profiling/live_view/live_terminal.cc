#include "footprint/profiling/live_view/live_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// Rows that the program keeps for itself.
constexpr int kLeastProgramRows = 6;
constexpr int kLeastRows = 3;
constexpr int kLeastColumns = 20;

// Signals by which this process ends if it has a fault of its own.
constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// The text that restores the terminal, for signal handlers. While its size is
// 0, there is nothing to restore.
char restoring_text[128];
std::atomic<size_t> restoring_bytes{0};
std::atomic<int> restored_terminal{-1};

// The rows for which the text above was made; 0 for the alternate screen.
std::atomic<int> restored_rows{0};

// Restores a terminal whose size has changed, which moved the program's lines
// and the part: erases the rows below the cursor's. The line feed makes a row
// below if there is none.
constexpr char kRestoreOtherSize[] =
    "\0337\033[r\0338\033D\033[A\0337\033[B\r\033[J\0338";

// The action of SIGTSTP before this file replaced it.
struct sigaction stop_before;

// Writes the whole text, also in a signal handler. A program may have set the
// terminal to O_NONBLOCK: then this waits some seconds for a slow terminal.
void WriteAll(int descriptor, const char* text, size_t bytes) {
  constexpr int kMostWaits = 10;
  constexpr int kWaitMs = 1000;
  int waits = 0;
  while (bytes > 0) {
    const ssize_t written = write(descriptor, text, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && waits < kMostWaits) {
      ++waits;
      pollfd writable = {descriptor, POLLOUT, 0};
      poll(&writable, 1, kWaitMs);
      continue;
    }
    if (written <= 0) return;
    waits = 0;
    text += written;
    bytes -= static_cast<size_t>(written);
  }
}

FrameSize WholeSize(int terminal) {
  winsize size = {};
  if (ioctl(terminal, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

void RestoreTerminal() {
  const size_t bytes = restoring_bytes.exchange(0);
  if (bytes == 0) return;
  const int terminal = restored_terminal.load();
  const int rows = restored_rows.load();
  if (rows == 0 || rows == WholeSize(terminal).rows) {
    WriteAll(terminal, restoring_text, bytes);
  } else {
    WriteAll(terminal, kRestoreOtherSize, sizeof(kRestoreOtherSize) - 1);
  }
}

// Restores the terminal and ends the process, since the signal has its default
// action by now (SA_RESETHAND).
void RestoreAndEnd(int signal_number) {
  const int error = errno;
  RestoreTerminal();
  raise(signal_number);
  errno = error;
}

sigset_t StopSignal() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  return stop;
}

// Restores the terminal and stops by the signal's default action, which the
// kernel ignores if no shell could continue this process (SIGSTOP would stop it
// for ever).
void RestoreAndStop(int signal_number) {
  const int error = errno;
  RestoreTerminal();
  struct sigaction own;
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal_number, &action, &own);
  raise(signal_number);
  const sigset_t stop = StopSignal();
  sigset_t before;
  pthread_sigmask(SIG_UNBLOCK, &stop, &before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  sigaction(signal_number, &own, nullptr);
  errno = error;
}

// Installs the handlers. An ignored stop stays ignored, since the program
// ignores it, too.
void SetHandlers() {
  struct sigaction action = {};
  sigaction(SIGTSTP, nullptr, &stop_before);
  action.sa_handler = RestoreAndStop;
  action.sa_flags = SA_RESTART;
  if (stop_before.sa_handler != SIG_IGN) sigaction(SIGTSTP, &action, nullptr);
  action.sa_handler = RestoreAndEnd;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int number : kFaults) sigaction(number, &action, nullptr);
}

void SetHandlersBack() {
  sigaction(SIGTSTP, &stop_before, nullptr);
  for (int number : kFaults) std::signal(number, SIG_DFL);
}

bool IsInForeground(int terminal) { return tcgetpgrp(terminal) == getpgrp(); }

// Moves to the first column of a row, which counts from 1.
std::string MoveTo(int row) { return absl::StrCat("\033[", row, ";1H"); }

}  // namespace

absl::StatusOr<std::unique_ptr<LiveTerminal>> LiveTerminal::Open(
    int most_rows) {
  const bool has_own_screen =
      isatty(STDERR_FILENO) != 1 && isatty(STDOUT_FILENO) != 1;
  FileDescriptor terminal(
      has_own_screen
          ? open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
          : fcntl(isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : STDOUT_FILENO,
                  F_DUPFD_CLOEXEC, 3));
  if (!terminal.is_open()) {
    return absl::FailedPreconditionError("there is no terminal to draw on");
  }
  const char* const kind = std::getenv("TERM");
  if (kind == nullptr || *kind == '\0' || std::strcmp(kind, "dumb") == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "TERM is ",
        kind == nullptr ? "not set"
        : *kind == '\0' ? "empty"
                        : kind,
        ", so this terminal cannot be drawn on; on one that can, set "
        "TERM=xterm"));
  }
  if (!IsInForeground(terminal.get())) {
    return absl::FailedPreconditionError(
        "this process is not in the terminal's foreground");
  }
  std::unique_ptr<LiveTerminal> live(
      new LiveTerminal(std::move(terminal), has_own_screen, most_rows));
  const FrameSize size = live->size();
  if (size.rows < kLeastRows || size.columns < kLeastColumns) {
    return absl::FailedPreconditionError(
        absl::StrCat("the terminal is too small: the view needs ",
                     kLeastRows + kLeastProgramRows, " rows of ", kLeastColumns,
                     " characters"));
  }
  live->known_size_ = WholeSize(live->terminal_.get());
  restored_terminal.store(live->terminal_.get());
  SetHandlers();
  return live;
}

LiveTerminal::~LiveTerminal() {
  RestoreTerminal();
  SetHandlersBack();
}

FrameSize LiveTerminal::size() const {
  const FrameSize whole = WholeSize(terminal_.get());
  const int rows =
      has_own_screen_ ? whole.rows : whole.rows - kLeastProgramRows;
  return {std::clamp(rows, 0, has_own_screen_ ? whole.rows : most_rows_),
          whole.columns};
}

std::string LiveTerminal::Enter(const FrameSize& whole) {
  std::string restoring;
  std::string entering;
  const int rows = size().rows;
  if (has_own_screen_) {
    entering = "\033[?1049h\033[?25l";
    restoring = "\033[?25h\033[?1049l";
  } else {
    const int program_rows = whole.rows - rows;
    // Moves down, by which the program's text scrolls up where it must, and up
    // again: the rows below the cursor are free then.
    for (int i = 0; i < rows; ++i) entering += "\033D";
    absl::StrAppend(&entering, "\033[", rows, "A\0337\033[1;", program_rows,
                    "r\0338");
    restoring =
        absl::StrCat("\0337\033[r", MoveTo(program_rows + 1), "\033[J\0338");
  }
  std::memcpy(restoring_text, restoring.data(), restoring.size());
  restored_rows.store(has_own_screen_ ? 0 : whole.rows);
  restoring_bytes.store(restoring.size());
  return entering;
}

bool LiveTerminal::IsResized() const {
  const FrameSize whole = WholeSize(terminal_.get());
  return whole.rows != known_size_.rows || whole.columns != known_size_.columns;
}

void LiveTerminal::Show(const std::vector<std::string>& lines) {
  const sigset_t stop = StopSignal();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  if (IsInForeground(terminal_.get())) Draw(lines);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LiveTerminal::Draw(const std::vector<std::string>& lines) {
  const FrameSize whole = WholeSize(terminal_.get());
  const int rows = size().rows;
  std::string text;
  if (IsResized() && !has_own_screen_) RestoreTerminal();
  known_size_ = whole;
  if (rows < kLeastRows || whole.columns < kLeastColumns) return;
  if (restoring_bytes.load() == 0) text = Enter(whole);
  // Without wrapping, since a character may be two columns wide.
  absl::StrAppend(&text, "\0337\033[?7l");
  for (int i = 0; i < rows; ++i) {
    const size_t line = static_cast<size_t>(i);
    absl::StrAppend(&text, MoveTo(whole.rows - rows + i + 1), "\033[2K",
                    line < lines.size() ? lines[line] : "");
  }
  absl::StrAppend(&text, "\033[?7h\0338");
  WriteAll(terminal_.get(), text.data(), text.size());
}

}  // namespace footprint
