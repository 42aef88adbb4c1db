#include "footprint/profiling/live_view/live_view.h"

#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "footprint/profiling/live_view/live_frame.h"
#include "footprint/profiling/live_view/run_so_far.h"
#include "footprint/profiling/records/measured_process.h"

namespace footprint {
namespace {

constexpr int kMostRows = 9;
constexpr absl::Duration kFirstFrame = absl::Milliseconds(200);
constexpr absl::Duration kBetweenFrames = absl::Seconds(1);
// Between two looks at the terminal's size.
constexpr absl::Duration kBetweenSizes = absl::Milliseconds(50);

// A stop is for the thread that draws, which is then not within a drawing;
// other signals are for the thread that waits for the program.
void BlockSignalsOfDrawing() {
  sigset_t all;
  sigfillset(&all);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTSTP}) {
    sigdelset(&all, number);
  }
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

void BlockStop(sigset_t* before) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  pthread_sigmask(SIG_BLOCK, &stop, before);
}

}  // namespace

absl::Status LiveView::Begin(const std::string& folder) {
  absl::StatusOr<std::unique_ptr<LiveTerminal>> terminal =
      LiveTerminal::Open(kMostRows);
  if (!terminal.ok()) return terminal.status();
  terminal_ = *std::move(terminal);
  folder_ = folder;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &mask_before_);
  try {
    thread_ = std::thread([this] { DrawUntilEnd(); });
  } catch (const std::system_error& error) {
    terminal_.reset();
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread can be started to draw it (", error.what(),
                     "); allow more processes (ulimit -u)"));
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  BlockStop(&mask_before_);
  return absl::OkStatus();
}

void LiveView::End() {
  if (!thread_.joinable()) return;
  has_ended_.Notify();
  thread_.join();
  terminal_.reset();
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

bool LiveView::WaitForFrame(absl::Duration pause) {
  const absl::Time next = absl::Now() + pause;
  while (!terminal_->IsResized() && absl::Now() < next) {
    if (has_ended_.WaitForNotificationWithTimeout(
            std::min(kBetweenSizes, next - absl::Now()))) {
      return false;
    }
  }
  return !has_ended_.HasBeenNotified();
}

void LiveView::DrawUntilEnd() {
  BlockSignalsOfDrawing();
  absl::Duration pause = kFirstFrame;
  while (WaitForFrame(pause)) {
    const absl::Time begin = absl::Now();
    // A record that is being begun is whole at the next look.
    absl::StatusOr<std::vector<MeasuredProcess>> processes =
        ReadRecords(folder_);
    if (processes.ok()) {
      terminal_->Show(LiveFrameLines(MakeRunSoFar(*std::move(processes)),
                                     terminal_->size()));
    }
    pause = std::max(kBetweenFrames, 4 * (absl::Now() - begin));
  }
}

}  // namespace footprint
