// Calls user code and turns what it throws into a status.
//
//   absl::Status status = RunCatching("the factory", [&] {
//     value = factory();
//     return absl::OkStatus();
//   });
//
// A thread that is cancelled (pthread_cancel) continues to unwind, since the
// process ends if a handler stops the unwinding. RunCatching calls `run` before
// it returns, and keeps nothing. Thread-safe. Memory: the message.

#ifndef FOOTPRINT_MEMO_RUN_CATCHING_H_
#define FOOTPRINT_MEMO_RUN_CATCHING_H_

#include <cxxabi.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint::memo_internal {

// Returns the status of the exception that is being handled: ResourceExhausted
// for std::bad_alloc, otherwise Internal with the exception's text. The message
// begins with `thrower`.
absl::Status StatusOfException(absl::string_view thrower);

// Returns the status that `run` returns, or StatusOfException if it throws.
template <typename Run>
absl::Status RunCatching(absl::string_view thrower, const Run& run) {
  try {
    return run();
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (...) {
    return StatusOfException(thrower);
  }
}

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_RUN_CATCHING_H_
