// Writes the trend of a gate over its commits as one page that needs no
// network: each deployment's peak and limit, and the commits that raised them.
//
//   std::vector<HistoryCommit> commits;  // oldest first
//   absl::StatusOr<std::string> html =
//       WriteHistoryPage("//app:load", commits, /*warnings=*/{});
//   if (!html.ok()) return html.status();
//
// Pure; thread-safe. Memory: the page, twice, and two commits' profiles. Time:
// that of comparing each commit with the one before.

#ifndef FOOTPRINT_GATES_TREND_HISTORY_PAGE_H_
#define FOOTPRINT_GATES_TREND_HISTORY_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/trend/commit_list.h"
#include "footprint/gates/trend/commit_profiles.pb.h"

namespace footprint {

struct HistoryCommit {
  Commit commit;
  absl::optional<CommitProfiles> profiles;  // nullopt: it is not recorded
};

// Returns the page, with `warnings` at its top. It shows at most 50 deployments
// and 200 raises, and says how many it leaves out. Returns kInvalidArgument if
// a commit has a benchmark twice.
absl::StatusOr<std::string> WriteHistoryPage(
    absl::string_view gate, absl::Span<const HistoryCommit> commits,
    const std::vector<std::string>& warnings);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TREND_HISTORY_PAGE_H_
