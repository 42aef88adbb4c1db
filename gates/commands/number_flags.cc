#include "footprint/gates/commands/number_flags.h"

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/parse_bytes.h"

namespace footprint {

absl::Status SetNumberFlag(const CommandFlags& flags, const std::string& name,
                           int64_t most, int64_t* number) {
  if (!flags.Has(name)) return absl::OkStatus();
  int64_t given = 0;
  if (!absl::SimpleAtoi(flags.Value(name, ""), &given) || given < 0 ||
      given > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, " must be a number from 0 to ", most));
  }
  *number = given;
  return absl::OkStatus();
}

absl::Status SetBytesFlag(const CommandFlags& flags, const std::string& name,
                          int64_t* bytes) {
  if (!flags.Has(name)) return absl::OkStatus();
  const absl::StatusOr<int64_t> given = ParseBytes(flags.Value(name, ""));
  if (given.ok()) *bytes = *given;
  return given.status();
}

}  // namespace footprint
