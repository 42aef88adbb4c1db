#include "footprint/gates/programs/history_store.h"

#include <string>

#include "absl/strings/match.h"
#include "footprint/gates/programs/program_output.h"

namespace footprint {

absl::StatusOr<std::unique_ptr<ProfileStore>> OpenHistoryStore(
    const CommandFlags& flags) {
  const std::string store = flags.Value("store", "");
  return OpenProfileStore(
      absl::StrContains(store, "://") ? store : PathOfCaller(store),
      EnvironmentValue("FOOTPRINT_HISTORY_TOKEN"));
}

}  // namespace footprint
