// Parses a fleet file (textproto, fleet.proto's Fleet), and reports every
// mistake in it.
//
//   FleetSource source = ParseFleetFile("fleet.textproto", text);
//   for (const std::string& problem : source.problems) std::cerr << problem;
//
// A problem says where ("fleet.textproto:12:3"), what, and, if the text can be
// parsed, what to do: another schema version, a fleet without a device, an
// unknown field, a name that is missing or repeated, a deployment without a
// label, a malformed size, a reserve that leaves nothing, a deployment that a
// device names twice, or that the fleet does not have.
//
// Pure functions, thread-safe; the result owns copies. Memory and time: linear.

#ifndef FOOTPRINT_GATES_FLEET_FLEET_FILE_H_
#define FOOTPRINT_GATES_FLEET_FLEET_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/gates/fleet/fleet.pb.h"

namespace footprint {

inline constexpr int kFleetSchemaVersion = 1;

struct FleetSource {
  std::string path;  // as messages show it
  Fleet fleet;
  // Each problem is a sentence; if there is one, `fleet` must not be used.
  std::vector<std::string> problems;
};

// Parses the text of a fleet file. `path` is for messages only.
FleetSource ParseFleetFile(absl::string_view path, absl::string_view text);

// Returns the RAM without the reserve. The device's fleet must not have
// problems.
int64_t BytesForDeployments(const Device& device);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_FLEET_FLEET_FILE_H_
