// The store that --store= names for a program that keeps or reads a history.
//
//   absl::StatusOr<std::unique_ptr<ProfileStore>> store =
//       OpenHistoryStore(flags);
//   if (!store.ok()) return Complain("history", store.status().message());
//
// The token is that of FOOTPRINT_HISTORY_TOKEN. Thread-safe, if no thread
// changes the environment. Memory: the store's.

#ifndef FOOTPRINT_GATES_PROGRAMS_HISTORY_STORE_H_
#define FOOTPRINT_GATES_PROGRAMS_HISTORY_STORE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "footprint/gates/programs/command_flags.h"
#include "footprint/gates/trend/profile_store.h"

namespace footprint {

// kInvalidArgument: no store is named, or it is no address. A folder is the
// caller's.
absl::StatusOr<std::unique_ptr<ProfileStore>> OpenHistoryStore(
    const CommandFlags& flags);

}  // namespace footprint

// Tested by history_main_test and culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_HISTORY_STORE_H_
