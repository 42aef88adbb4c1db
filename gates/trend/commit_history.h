// What a store knows of a gate's commits.
//
//   CommitHistory history(store.get());
//   absl::Status status = history.Write(profiles);
//   absl::StatusOr<CommitProfiles> read = history.Read(commit, "//app:load");
//
// Each commit of a gate is one object of the store, named for both, so that no
// list is needed. Of two that write one commit, the later one's object stays,
// whole. CI records by Write, which has the limits, too; others use Add, which
// leaves what is there.
//
// Thread-compatible; the store must outlive the history. Memory: one commit's
// profiles, twice. Errors: the store's; kDataLoss: an object is damaged, or is
// another commit's.

#ifndef FOOTPRINT_GATES_TREND_COMMIT_HISTORY_H_
#define FOOTPRINT_GATES_TREND_COMMIT_HISTORY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/trend/commit_profiles.pb.h"
#include "footprint/gates/trend/profile_store.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

class CommitHistory {
 public:
  explicit CommitHistory(ProfileStore* store) : store_(store) {}

  absl::StatusOr<CommitProfiles> Read(const std::string& commit,
                                      const std::string& gate);
  // Replaces what the store has of the commit.
  absl::Status Write(const CommitProfiles& profiles);
  // Writes only if the store has nothing of the commit, or damage.
  absl::Status Add(const CommitProfiles& profiles);

 private:
  ProfileStore* const store_;
};

std::vector<MemoryProfile> ProfilesOf(const CommitProfiles& profiles);

// Returns the name of a commit's object in a store: "app+load/4f0a.binpb".
std::string NameCommitObject(absl::string_view commit, absl::string_view gate);

}  // namespace footprint

// Tested by profile_store_test and history_page_test.

#endif  // FOOTPRINT_GATES_TREND_COMMIT_HISTORY_H_
