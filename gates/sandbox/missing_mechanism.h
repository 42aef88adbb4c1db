// Skips a test that needs a sandbox, with a message, if the host lacks a
// mechanism.
//
//   void SetUp() override {
//     SKIP_WITHOUT_SANDBOX();
//   }
//
// A host without control groups or user namespaces is not a defect, but a
// mechanism that exists and fails is. Set FOOTPRINT_SANDBOX_REQUIRED on a host
// that has all mechanisms: then no test is skipped. Thread-safe, if no thread
// changes the environment. Keeps no memory.

#ifndef FOOTPRINT_GATES_SANDBOX_MISSING_MECHANISM_H_
#define FOOTPRINT_GATES_SANDBOX_MISSING_MECHANISM_H_

#include <string>

namespace footprint {

// Returns the first missing mechanism; empty if none is missing. Fails the test
// if every host must have the mechanism, or if FOOTPRINT_SANDBOX_REQUIRED is
// set.
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
