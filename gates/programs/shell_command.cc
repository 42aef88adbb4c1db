#include "footprint/gates/programs/shell_command.h"

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr char kWithoutHooks[] = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; ";
constexpr int kBazelInterrupted = 8;
constexpr int kShellsSignalBase = 128;

bool IsInterrupted(int status) {
  if (!WIFEXITED(status)) return true;
  const int number = WEXITSTATUS(status);
  return number == kBazelInterrupted || number == kShellsSignalBase + SIGINT ||
         number == kShellsSignalBase + SIGTERM;
}

}  // namespace

absl::StatusOr<int> RunShellCommand(const std::string& command) {
  const int status = std::system(absl::StrCat(kWithoutHooks, command).c_str());
  if (status == -1) {
    return absl::UnavailableError(
        "no shell can be started; see that there is memory for a process");
  }
  if (IsInterrupted(status)) {
    return absl::CancelledError(
        "it was interrupted, so nothing is concluded; run it again");
  }
  return WEXITSTATUS(status);
}

}  // namespace footprint
