// Computes whether the deployments on a device fit it, by the sum of their
// worst peaks.
//
//   WhatIf what_if;
//   what_if.with = {"price_model"};
//   absl::StatusOr<DeviceFit> fit =
//       FitDevice(source, "edge_box", what_if, profiles, samples);
//   std::cout << FitText(*fit);
//
// A deployment's worst peak is that of the benchmark that needs most: the live
// heap at its peak, mappings and the program's image; or the highest resident
// set of any run if samples show more. The heap includes what was live before
// the benchmark, if the profile has that figure; it is the sum of the threads'
// peaks if only that repeats. Peaks are added, since all may come at one
// moment.
//
// Pure functions, thread-safe; results own copies. Time: linear in the profiles
// and samples, for each deployment.

#ifndef FOOTPRINT_GATES_FLEET_DEVICE_FIT_H_
#define FOOTPRINT_GATES_FLEET_DEVICE_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/fleet/fleet_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct WhatIf {
  std::vector<std::string> with;     // deployments in addition to the device's
  std::vector<std::string> without;  // those of the device that do not run
  absl::optional<int64_t> ram_bytes;
};

struct DeploymentNeed {
  std::string name;
  std::string benchmark;       // the one that needs most
  int64_t heap_bytes = 0;      // with mappings and image
  int64_t resident_bytes = 0;  // highest of the samples; 0 without samples

  int64_t peak_bytes() const {
    return heap_bytes > resident_bytes ? heap_bytes : resident_bytes;
  }
};

struct DeviceFit {
  std::string device;
  int64_t ram_bytes = 0;
  int64_t reserve_bytes = 0;
  std::vector<DeploymentNeed> needs;  // largest first

  int64_t sum_bytes() const;
  // Returns the remaining bytes; below zero if the deployments do not fit.
  int64_t margin_bytes() const;
};

// Computes the fit. Returns kNotFound for a device or deployment that the fleet
// does not have, or a label without a profile or benchmark; kInvalidArgument if
// the what-if contradicts the device's list, its RAM is not valid, or no
// deployment runs on the device and the what-if has removed none; and
// kFailedPrecondition if a profile has a failure, or no known peak. Each
// message says where, and what to do. The fleet must not have problems.
absl::StatusOr<DeviceFit> FitDevice(const FleetSource& source,
                                    const std::string& device,
                                    const WhatIf& what_if,
                                    absl::Span<const MemoryProfile> profiles,
                                    absl::Span<const MemorySamples> samples);

// Returns a table, and a last line: "FITS edge_box, 12.0 MiB left of 448 MiB
// (2.7 %)".
std::string FitText(const DeviceFit& fit);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_FLEET_DEVICE_FIT_H_
