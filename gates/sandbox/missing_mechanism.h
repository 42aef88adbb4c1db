// Skips a test that needs a sandbox if the host lacks a mechanism, and says so.
//
//   void SetUp() override {
//     SKIP_WITHOUT_SANDBOX();
//   }
//
// A host without control groups or user namespaces is no defect; a mechanism
// that is there and fails is one. Set FOOTPRINT_SANDBOX_REQUIRED where the host
// is known to have them all: then nothing is skipped. Owns nothing;
// thread-safe, if no thread changes the environment. Memory: none kept.

#ifndef FOOTPRINT_GATES_SANDBOX_MISSING_MECHANISM_H_
#define FOOTPRINT_GATES_SANDBOX_MISSING_MECHANISM_H_

#include <string>

namespace footprint {

// Returns which mechanism is missing; empty if none is. Fails the test for a
// mechanism that no host may lack, or if FOOTPRINT_SANDBOX_REQUIRED is set.
std::string MissingMechanism();

}  // namespace footprint

#define SKIP_WITHOUT_SANDBOX()                                    \
  do {                                                            \
    const std::string missing = ::footprint::MissingMechanism();  \
    if (HasFatalFailure()) return;                                \
    if (!missing.empty()) {                                       \
      GTEST_SKIP() << "NOT TESTED: this host has no " << missing; \
    }                                                             \
  } while (false)

// Tested by sandbox_test.

#endif  // FOOTPRINT_GATES_SANDBOX_MISSING_MECHANISM_H_
