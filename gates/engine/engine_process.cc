#include "footprint/gates/engine/engine_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/pipe.h"
#include "footprint/base/text/exec_strings.h"

namespace footprint {
namespace {

constexpr size_t kTailBytes = 4096;
constexpr absl::Duration kGrace = absl::Seconds(5);
// How often to look whether the command has ended, if its output does not show
// it.
constexpr int kLookMilliseconds = 20;
constexpr int kSoonLooks = 50;
// The most that is read before the next look: as much as a pipe holds.
constexpr int kMostPieces = 16;
// The descriptor at which the guard keeps the reading end of the command's
// output open, so that no SIGPIPE ends a command that prints at its end.
constexpr int kGuardsOutput = STDERR_FILENO + 1;
// Ends the group $1 after the standard input has ended, which is when the
// process that holds its other end has ended.
constexpr char kGuardScript[] =
    "read -r end; kill -s TERM -- \"-$1\"; sleep 5; kill -s KILL -- \"-$1\"";

// How a process is started: its files, its group and its signals.
class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP |
                                               POSIX_SPAWN_SETSIGDEF |
                                               POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  void Redirect(int from, int to) {
    posix_spawn_file_actions_adddup2(&files_, from, to);
  }
  void OpenNull(int descriptor) {
    posix_spawn_file_actions_addopen(&files_, descriptor, "/dev/null", O_RDWR,
                                     0);
  }

  // Starts the program of an absolute path, without files from `first_closed`.
  absl::StatusOr<pid_t> Start(const std::vector<std::string>& words,
                              int first_closed = STDERR_FILENO + 1) {
    posix_spawn_file_actions_addclosefrom_np(&files_, first_closed);
    pid_t process = 0;
    const int error =
        posix_spawn(&process, words.front().c_str(), &files_, &attributes_,
                    ExecStrings(words).data(), environ);
    if (error != 0) return FileError(error, words.front(), "cannot be started");
    return process;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Waits for a process that has ended, or was killed.
int Reap(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The group of a command, while it runs.
class EngineGroup {
 public:
  ~EngineGroup() {
    if (process_ > 0) End();
  }

  absl::Status Start(const std::vector<std::string>& words) {
    absl::StatusOr<Pipe> output = MakePipe();
    if (!output.ok()) return output.status();
    absl::StatusOr<Pipe> life = MakePipe();
    if (!life.ok()) return life.status();
    output_ = *std::move(output);
    life_ = *std::move(life);
    SpawnSettings settings;
    settings.OpenNull(STDIN_FILENO);
    settings.Redirect(output_.write_end.get(), STDOUT_FILENO);
    settings.Redirect(output_.write_end.get(), STDERR_FILENO);
    const absl::StatusOr<pid_t> process = settings.Start(words);
    if (!process.ok()) return process.status();
    process_ = *process;
    output_.write_end = FileDescriptor();
    fcntl(output_.read_end.get(), F_SETFL, O_NONBLOCK);
    return StartGuard();
  }

  // Waits until the command ends or the time is over. Returns whether the
  // command has ended.
  bool Await(absl::Time deadline, const std::function<bool()>& is_stopped) {
    while (!HasEnded()) {
      if (absl::Now() >= deadline || (is_stopped && is_stopped())) return false;
      Look();
    }
    return true;
  }

  // A shell without `exec` ends at once, and the program that it started has
  // the rest of the time: it holds the output open.
  void Terminate() {
    const absl::Time deadline = absl::Now() + kGrace;
    kill(-process_, SIGTERM);
    Await(deadline, {});
    while (is_open_ && absl::Now() < deadline) Look();
  }

  // Kills what is left of the group. Returns the command's status.
  int End() {
    // The command was not waited for, so no other group has its number.
    kill(-process_, SIGKILL);
    const int status = Reap(process_);
    process_ = 0;
    if (guard_ > 0) {
      kill(guard_, SIGKILL);
      Reap(guard_);
      guard_ = 0;
    }
    if (is_open_) ReadOutput();
    return status;
  }

  const std::string& output_tail() const { return output_tail_; }

 private:
  absl::Status StartGuard() {
    SpawnSettings settings;
    settings.Redirect(life_.read_end.get(), STDIN_FILENO);
    settings.OpenNull(STDOUT_FILENO);
    settings.OpenNull(STDERR_FILENO);
    settings.Redirect(output_.read_end.get(), kGuardsOutput);
    const absl::StatusOr<pid_t> guard = settings.Start(
        {"/bin/sh", "-c", kGuardScript, "guard", absl::StrCat(process_)},
        kGuardsOutput + 1);
    if (guard.ok()) guard_ = *guard;
    return guard.status();
  }

  bool HasEnded() const {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(process_), &info,
                  WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == process_;
  }

  // Waits for output, but not long, and reads it.
  void Look() {
    pollfd output = {output_.read_end.get(), POLLIN, 0};
    // A command that has closed its output mostly ends at once.
    const bool is_soon = !is_open_ && closed_look_count_++ < kSoonLooks;
    poll(&output, is_open_ ? 1 : 0, is_soon ? 2 : kLookMilliseconds);
    if (is_open_) is_open_ = ReadOutput();
  }

  // Reads what there is, but not for ever. Returns false at the end of the
  // output.
  bool ReadOutput() {
    char piece[4096];
    for (int i = 0; i < kMostPieces; ++i) {
      const ssize_t size = read(output_.read_end.get(), piece, sizeof(piece));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return errno == EAGAIN;
      if (size == 0) return false;
      output_tail_.append(piece, static_cast<size_t>(size));
      if (output_tail_.size() > kTailBytes) {
        output_tail_.erase(0, output_tail_.size() - kTailBytes);
      }
    }
    return true;
  }

  pid_t process_ = 0;
  pid_t guard_ = 0;
  Pipe output_;
  // Only this process has the writing end.
  Pipe life_;
  bool is_open_ = true;
  int closed_look_count_ = 0;
  std::string output_tail_;
};

}  // namespace

absl::StatusOr<EngineEnd> RunEngineProcess(
    const std::vector<std::string>& words, absl::Duration limit,
    const std::function<bool()>& is_stopped) {
  EngineGroup group;
  const absl::Status status = group.Start(words);
  if (!status.ok()) return status;
  const bool has_ended = group.Await(absl::Now() + limit, is_stopped);
  if (!has_ended) group.Terminate();
  if (!has_ended && is_stopped && is_stopped()) {
    return absl::CancelledError("the server stops");
  }
  EngineEnd end;
  end.is_timed_out = !has_ended;
  end.wait_status = group.End();
  end.output_tail = group.output_tail();
  return end;
}

}  // namespace footprint
