// Reads the devices of a fleet file as budgets that a bundle's manifest may
// name.
//
//   TrialRequest request;
//   absl::Status status = AddDeviceBudgets("fleet.textproto", &request);
//
// A device's budget is its RAM without the reserve. Thread-safe. The request
// gets copies. Memory and time: linear in the file. Errors: those of
// ReadWholeFile, and kInvalidArgument with the first problem of the file.

#ifndef FOOTPRINT_GATES_PROGRAMS_DEVICE_BUDGETS_H_
#define FOOTPRINT_GATES_PROGRAMS_DEVICE_BUDGETS_H_

#include <string>

#include "absl/status/status.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

// Adds the devices of the fleet file to `request`.
absl::Status AddDeviceBudgets(const std::string& path, TrialRequest* request);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_DEVICE_BUDGETS_H_
