#include "footprint/profiling/live_view/live_terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
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

// What gives the terminal back, for signal handlers. Nothing is to be done
// while the size is 0.
char restoring_text[128];
std::atomic<size_t> restoring_bytes{0};
std::atomic<int> restored_terminal{-1};

// Writes the whole text, also in a signal handler.
void WriteAll(int descriptor, const char* text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(descriptor, text, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    bytes -= static_cast<size_t>(written);
  }
}

void RestoreTerminal() {
  const size_t bytes = restoring_bytes.exchange(0);
  WriteAll(restored_terminal.load(), restoring_text, bytes);
}

// The action of the signal is its default's afterwards (SA_RESETHAND).
void RestoreAndEnd(int signal_number) {
  const int error = errno;
  RestoreTerminal();
  raise(signal_number);
  errno = error;
}

void RestoreAndStop(int /*signal_number*/) {
  const int error = errno;
  RestoreTerminal();
  raise(SIGSTOP);
  errno = error;
}

void SetHandlers() {
  struct sigaction action = {};
  action.sa_handler = RestoreAndStop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTSTP, &action, nullptr);
  action.sa_handler = RestoreAndEnd;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int number : kFaults) sigaction(number, &action, nullptr);
}

void SetDefaultHandlers() {
  std::signal(SIGTSTP, SIG_DFL);
  for (int number : kFaults) std::signal(number, SIG_DFL);
}

FrameSize WholeSize(int terminal) {
  winsize size = {};
  if (ioctl(terminal, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
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
  restored_terminal.store(live->terminal_.get());
  SetHandlers();
  return live;
}

LiveTerminal::~LiveTerminal() {
  RestoreTerminal();
  SetDefaultHandlers();
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
  restoring_bytes.store(restoring.size());
  entered_ = whole;
  return entering;
}

void LiveTerminal::Show(const std::vector<std::string>& lines) {
  if (!IsInForeground(terminal_.get())) return;
  const FrameSize whole = WholeSize(terminal_.get());
  const int rows = size().rows;
  std::string text;
  const bool is_resized =
      whole.rows != entered_.rows || whole.columns != entered_.columns;
  if (is_resized && !has_own_screen_) RestoreTerminal();
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
