#include "footprint/profiling/live_view/live_view.h"

#include <signal.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
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

// Signals are for the thread that waits for the program.
void BlockSignals(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_BLOCK, &all, before);
}

}  // namespace

absl::Status LiveView::Begin(const std::string& folder) {
  absl::StatusOr<std::unique_ptr<LiveTerminal>> terminal =
      LiveTerminal::Open(kMostRows);
  if (!terminal.ok()) return terminal.status();
  terminal_ = *std::move(terminal);
  folder_ = folder;
  sigset_t before;
  BlockSignals(&before);
  thread_ = std::thread([this] { DrawUntilEnd(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return absl::OkStatus();
}

void LiveView::End() {
  if (!thread_.joinable()) return;
  has_ended_.Notify();
  thread_.join();
  terminal_.reset();
}

void LiveView::DrawUntilEnd() {
  absl::Duration pause = kFirstFrame;
  while (!has_ended_.WaitForNotificationWithTimeout(pause)) {
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
