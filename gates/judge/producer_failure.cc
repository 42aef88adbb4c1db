#include "footprint/gates/judge/producer_failure.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

std::string DescribeKind(const ProducerFailure& failure) {
  constexpr int kKillSignal = 9;
  switch (failure.kind()) {
    case ProducerFailure::EXITED:
      return absl::StrCat("exited with status ", failure.exit_status());
    case ProducerFailure::SIGNALLED:
      return absl::StrCat("was killed by signal ", failure.signal_number(),
                          failure.signal_number() == kKillSignal
                              ? " (often: out of memory)"
                              : "");
    case ProducerFailure::TIMED_OUT:
      return absl::StrCat("was stopped after ", failure.time_limit_seconds(),
                          " s, its time limit");
    case ProducerFailure::WROTE_NO_PROFILE:
      return "ended well, but wrote no profile";
    case ProducerFailure::WROTE_BAD_PROFILE:
      return "wrote a profile that cannot be read";
    case ProducerFailure::NOT_STARTED:
      return "could not be started";
    case ProducerFailure::DISAGREED:
      return "ran different benchmarks or phases in different processes";
    case ProducerFailure::BENCHMARKS_FAILED:
      return "has benchmarks that failed";
    default:
      return "failed for an unknown reason";
  }
}

}  // namespace

std::string DescribeFailure(const ProducerFailure& failure) {
  return absl::StrCat(
      failure.kind() == ProducerFailure::BENCHMARKS_FAILED
          ? "gave no measurement of all it should: it "
          : "gave no measurement: it ",
      DescribeKind(failure),
      failure.detail().empty() ? "" : absl::StrCat(": ", failure.detail()),
      failure.standard_error_tail().empty()
          ? "; it wrote nothing to its standard error"
          : absl::StrCat("; the end of its standard error:\n",
                         failure.standard_error_tail()));
}

}  // namespace footprint
