// Reads the flags of `serve` that hand trials to a command.
//
//   GivenFlags given = {{"engine", "srun ..."}, {"engine_key", "key"}};
//   absl::StatusOr<absl::optional<EngineOptions>> engine =
//       ReadEngineFlags(given, "/home/ci", store_folder, DescribeHost());
//   if (!engine.ok()) return engine.status();
//   if (engine->has_value()) ...            // --engine was given
//
// The result lacks make_request and report. Thread-safe. Memory: the texts.

#ifndef FOOTPRINT_GATES_ENGINE_ENGINE_FLAGS_H_
#define FOOTPRINT_GATES_ENGINE_ENGINE_FLAGS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/gates/engine/engine_trials.h"
#include "footprint/gates/sandbox/host.h"

namespace footprint {

// The values of flags, by their names without dashes.
using GivenFlags = std::map<std::string, std::string>;

// Returns the names of the flags, each of which takes a value.
const std::vector<std::string>& EngineFlags();

// Returns the engine's options, or nullopt without --engine. The environment is
// that of --engine_host, else of `host`. Makes the folder below --engine_folder
// that this store's server alone uses, whose name is in the store, which must
// exist. Relative paths are below `caller_folder`; other flags than --lowmem
// are ignored. Returns InvalidArgument, with the next step, for a flag that is
// wrong, missing or without effect, FailedPrecondition if `host` lacks
// mechanisms and there is no --engine_host or if the folder is a link or
// another user's, and FileError's.
absl::StatusOr<absl::optional<EngineOptions>> ReadEngineFlags(
    const GivenFlags& flags, const std::string& caller_folder,
    const std::string& store_folder, const HostDescription& host);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_ENGINE_ENGINE_FLAGS_H_
