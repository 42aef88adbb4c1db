// Opens the store of a history that --store= names.
//
//   absl::StatusOr<std::unique_ptr<ProfileStore>> store =
//       OpenHistoryStore(flags);
//   if (!store.ok()) return Complain("history", store.status().message());
//
// The token is the value of FOOTPRINT_HISTORY_TOKEN. Thread-safe, if no thread
// changes the environment. Memory: that of the store.

#ifndef FOOTPRINT_GATES_PROGRAMS_HISTORY_STORE_H_
#define FOOTPRINT_GATES_PROGRAMS_HISTORY_STORE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/trend/profile_store.h"

namespace footprint {

// Returns kInvalidArgument if the flag is missing or its value is not an
// address, and else the errors of OpenProfileStore. The path of a folder is
// relative to the caller's folder.
absl::StatusOr<std::unique_ptr<ProfileStore>> OpenHistoryStore(
    const CommandFlags& flags);

}  // namespace footprint

// Tested by history_main_test and culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_HISTORY_STORE_H_
