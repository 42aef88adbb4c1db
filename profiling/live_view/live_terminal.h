// A part of the terminal that is drawn again and again while a program writes
// to the rest of it.
//
//   absl::StatusOr<std::unique_ptr<LiveTerminal>> terminal =
//       LiveTerminal::Open(/*most_rows=*/8);
//   (*terminal)->Show({"first line", "second line"});
//
// If standard output or error is the terminal, the program's text goes there,
// too: then the part is the last rows, and the program's text scrolls above it,
// into the terminal's own history, so that none of it is lost. If both go
// elsewhere, the part is the terminal's alternate screen.
//
// Each drawing is one write, which the kernel does not mix with another
// process's. The cursor is where the program left it. When the object ends, and
// before a signal stops or ends this process, the terminal is as before; after
// a stop (Control-Z) the next drawing makes the part anew. A terminal that
// became larger or smaller gets the part at its new end; what the program has
// written stays.
//
// One object at a time; not thread-safe. Installs handlers for SIGTSTP (unless
// it is ignored) and for the signals of faults. Its end restores the old
// handler of SIGTSTP, and the default action of faults. A stop comes between
// two drawings if the thread that draws is the only one that does not block
// SIGTSTP. Memory: one drawing. Errors: kFailedPrecondition without a terminal,
// with one whose TERM is missing or dumb, in the background, or with too few
// rows or columns.

#ifndef FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_TERMINAL_H_
#define FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_TERMINAL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/profiling/live_view/live_frame.h"

namespace footprint {

class LiveTerminal {
 public:
  // Makes a part of at most `most_rows` rows; on the alternate screen, it has
  // all rows. Returns the errors above.
  static absl::StatusOr<std::unique_ptr<LiveTerminal>> Open(int most_rows);
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  // Returns how large a frame may be at this moment.
  FrameSize size() const;

  // Returns whether the terminal has another size than at the last drawing, or
  // at Open.
  bool IsResized() const;

  // Draws the lines, each of at most size().columns characters. Does nothing
  // while the process is in the background.
  void Show(const std::vector<std::string>& lines);

 private:
  LiveTerminal(FileDescriptor terminal, bool has_own_screen, int most_rows)
      : terminal_(std::move(terminal)),
        has_own_screen_(has_own_screen),
        most_rows_(most_rows) {}

  void Draw(const std::vector<std::string>& lines);

  // Makes room for the part, for a terminal of this size.
  std::string Enter(const FrameSize& whole);

  const FileDescriptor terminal_;
  const bool has_own_screen_;
  const int most_rows_;
  FrameSize known_size_;
};

}  // namespace footprint

// Tested by //profiling/memprof:live_view_test.

#endif  // FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_TERMINAL_H_
