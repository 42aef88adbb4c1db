#include "footprint/base/machine/stop_signals.h"

#include <csignal>

namespace footprint {
namespace {

constexpr int kNumbers[] = {SIGINT, SIGTERM, SIGHUP};

// The signal, or 0.
volatile std::sig_atomic_t g_noted = 0;

// The second signal of its number has its usual effect (SA_RESETHAND).
void Note(int number) { g_noted = number; }

}  // namespace

StopSignals::StopSignals() {
  struct sigaction action = {};
  action.sa_handler = Note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (size_t i = 0; i < kSignals; ++i) {
    sigaction(kNumbers[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      sigaction(kNumbers[i], &action, nullptr);
    }
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < kSignals; ++i) {
    sigaction(kNumbers[i], &before_[i], nullptr);
  }
}

bool StopSignals::is_stopped() const { return g_noted != 0; }

void StopSignals::EndIfStopped() {
  if (g_noted != 0) raise(g_noted);
}

}  // namespace footprint
