// Shows on the terminal what a measured program holds while it runs.
//
//   LiveView view;
//   absl::Status status = view.Begin(folder);   // of the agents' records
//   ...                                         // the program runs
//   view.End();                                 // the terminal is as before
//
// A thread reads the records about once a second and draws a frame
// (live_frame.h). Finding the names of a large program takes longer. Frames
// then come less often, so that the thread uses at most a fifth of a processor.
// If the terminal's size changes, a frame is drawn at once.
//
// Call Begin and End on one thread, and Begin only once. Between the two calls
// that thread blocks SIGTSTP, which the drawing thread handles. Memory: that of
// the run so far. Errors: those of LiveTerminal::Open, and kResourceExhausted
// if no thread can be started; then there is no view.

#ifndef FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_VIEW_H_
#define FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_VIEW_H_

#include <signal.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "footprint/profiling/live_view/live_terminal.h"

namespace footprint {

class LiveView {
 public:
  LiveView() = default;
  ~LiveView() { End(); }
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // Begins to show the program whose agents write their records to `folder`.
  absl::Status Begin(const std::string& folder);

  // Does nothing without a view.
  void End();

 private:
  void DrawUntilEnd();
  // Returns false once the view ends.
  bool WaitForFrame(absl::Duration pause);

  std::string folder_;
  std::unique_ptr<LiveTerminal> terminal_;
  absl::Notification has_ended_;
  sigset_t mask_before_;
  std::thread thread_;
};

}  // namespace footprint

// Tested by //profiling/memprof:live_view_test.

#endif  // FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_VIEW_H_
