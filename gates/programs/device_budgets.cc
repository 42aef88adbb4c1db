#include "footprint/gates/programs/device_budgets.h"

#include "absl/status/statusor.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/fleet/fleet_file.h"

namespace footprint {

absl::Status AddDeviceBudgets(const std::string& path, TrialRequest* request) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return text.status();
  const FleetSource source = ParseFleetFile(path, *text);
  if (!source.problems.empty()) {
    return absl::InvalidArgumentError(source.problems[0]);
  }
  for (const Device& each : source.fleet.device()) {
    DeviceBudget* const budget = request->add_devices();
    budget->set_device(each.name());
    budget->set_budget_bytes(BytesForDeployments(each));
  }
  return absl::OkStatus();
}

}  // namespace footprint
