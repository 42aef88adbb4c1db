// A fuzz target for replay_corpus_test: any file that begins with "crash" is a
// finding.

#include "absl/strings/match.h"
#include "footprint/base/testing/fuzz_target.h"

namespace footprint {
namespace {

void FindCrash(absl::string_view bytes) {
  Require(!absl::StartsWith(bytes, "crash"), "no file begins with crash");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(FindCrash)

}  // namespace footprint
