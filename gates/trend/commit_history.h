// Reads and writes the profiles of a gate's commits in a store.
//
//   CommitHistory history(store.get());
//   absl::Status status = history.Write(profiles);
//   absl::StatusOr<CommitProfiles> read = history.Read(commit, "//gates:diff");
//
// Each commit of a gate is one object of the store, whose name has both, so
// that no list is needed. If two processes write one commit, the later object
// stays as a whole. CI records with Write, since it also has the limits. Other
// programs use Add, which does not replace an object.
//
// Thread-compatible; the store must outlive the history. Memory: one commit's
// profiles, twice. Errors: those of the store; kDataLoss if an object is
// damaged, or is that of another commit; FileError's for a temporary file.

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

  // Returns the profiles of the commit; kNotFound if the store has none.
  absl::StatusOr<CommitProfiles> Read(const std::string& commit,
                                      const std::string& gate);
  // Writes the commit's object, and replaces an older one.
  absl::Status Write(const CommitProfiles& profiles);
  // Writes the commit's object if the store has none, or a damaged one.
  absl::Status Add(const CommitProfiles& profiles);

 private:
  ProfileStore* const store_;
};

// Returns copies of the profiles.
std::vector<MemoryProfile> ProfilesOf(const CommitProfiles& profiles);

// Returns the name of a commit's object in a store: "gates+3a+diff/4f0a.binpb"
// for "//gates:diff". A "+" stands for a slash, and "+3a+" for the character of
// that code.
std::string NameCommitObject(absl::string_view commit, absl::string_view gate);

}  // namespace footprint

// Tested by profile_store_test and history_page_test.

#endif  // FOOTPRINT_GATES_TREND_COMMIT_HISTORY_H_
