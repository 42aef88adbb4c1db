// Notes SIGINT, SIGTERM and SIGHUP, so that a program removes its files before
// it ends.
//
//   {
//     const StopSignals signals;
//     absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
//     while (!signals.is_stopped() && file->Append(...).ok()) {}
//   }
//   StopSignals::EndIfStopped();  // as if nobody had noted the signal
//
// While an object lives, these signals do not end the program, except that a
// second one does. A signal that was ignored before, for instance by nohup,
// stays ignored. Make one object at a time, on the main thread. Thread-safe for
// readers. Memory: below 1 KiB.

#ifndef FOOTPRINT_BASE_MACHINE_STOP_SIGNALS_H_
#define FOOTPRINT_BASE_MACHINE_STOP_SIGNALS_H_

#include <array>
#include <csignal>
#include <cstddef>

namespace footprint {

class StopSignals {
 public:
  StopSignals();
  // Restores the former handling.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool is_stopped() const;

  // Sends this process the signal that an earlier object noted, if there is
  // one.
  static void EndIfStopped();

 private:
  static constexpr size_t kSignals = 3;
  std::array<struct sigaction, kSignals> before_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_STOP_SIGNALS_H_
