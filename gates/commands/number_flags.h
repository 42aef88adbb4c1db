// Reads flags whose values are numbers, or bytes with a unit.
//
//   int64_t port = 7878;
//   absl::Status status = SetNumberFlag(flags, "port", 65535, &port);
//   int64_t budget_bytes = 0;
//   status.Update(SetBytesFlag(flags, "budget", &budget_bytes));
//
// A flag that is not given leaves the number as it is. Thread-safe; keeps
// nothing.

#ifndef FOOTPRINT_GATES_COMMANDS_NUMBER_FLAGS_H_
#define FOOTPRINT_GATES_COMMANDS_NUMBER_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "footprint/gates/commands/command_flags.h"

namespace footprint {

// Sets a number from 0 to `most`. Returns InvalidArgument, with the flag, for
// any other value.
absl::Status SetNumberFlag(const CommandFlags& flags, const std::string& name,
                           int64_t most, int64_t* number);

// Sets a number of bytes, such as of "512MiB". Returns ParseBytes' errors.
absl::Status SetBytesFlag(const CommandFlags& flags, const std::string& name,
                          int64_t* bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_COMMANDS_NUMBER_FLAGS_H_
