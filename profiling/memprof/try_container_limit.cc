#include "footprint/profiling/memprof/try_container_limit.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/memprof/run_within_limit.h"

namespace footprint {
namespace {

std::string DescribeEnd(int exit_status, int signal_number) {
  return signal_number != 0 ? absl::StrCat("signal ", signal_number)
                            : absl::StrCat("exit status ", exit_status);
}

std::string DescribeGroup(const LimitedEnd& end) {
  std::string text =
      absl::StrCat("a control group of version ", end.is_version_2 ? 2 : 1);
  if (end.peak_bytes >= 0) {
    absl::StrAppend(&text, ", at most ", FormatRoundedBytes(end.peak_bytes),
                    " with the page cache");
  }
  if (end.limit_hit_count > 0) {
    absl::StrAppend(&text, "; the kernel took pages of files back to keep it");
  }
  return text;
}

}  // namespace

void TryContainerLimit(const AgentRun& agent_run, MeasuredRun* run) {
  ContainerNeeds* const needs = run->mutable_container_needs();
  if (needs->limit_bytes() <= 0) {
    needs->set_tried("no limit was tried, since none is recommended");
    return;
  }
  const absl::StatusOr<LimitedEnd> end =
      RunWithinLimit(agent_run, needs->limit_bytes());
  if (!end.ok()) {
    needs->set_tried(absl::StrCat("the limit could not be tried: ",
                                  std::string(end.status().message())));
    return;
  }
  const bool ended_the_same = end->exit_status == run->exit_status() &&
                              end->signal_number == run->signal_number();
  if (end->killed_process_count == 0 && ended_the_same) {
    needs->set_held(true);
    needs->set_tried(absl::StrCat(
        "the limit held: the program ran once more within it and ended as "
        "before (",
        DescribeGroup(*end), ")"));
  } else if (end->killed_process_count > 0) {
    needs->set_tried(absl::StrCat(
        "the limit did not hold: the kernel killed a process of a second run "
        "for memory (",
        DescribeGroup(*end), ")"));
  } else {
    needs->set_tried(absl::StrCat(
        "a second run within the limit ended differently, with ",
        DescribeEnd(end->exit_status, end->signal_number), " instead of ",
        DescribeEnd(run->exit_status(), run->signal_number()),
        ", and no process was killed for memory: its input or its files may be "
        "others now"));
  }
}

}  // namespace footprint
