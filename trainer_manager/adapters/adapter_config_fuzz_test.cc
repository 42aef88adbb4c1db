// Any text as adapter_config.json: what is read trains something.

#include <cmath>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/trainer_manager/adapters/adapter_file.h"

namespace footprint {
namespace {

void ParseAnyText(absl::string_view text) {
  const absl::StatusOr<AdapterConfig> config =
      ParseAdapterConfig(text, "adapter_config.json");
  if (!config.ok()) return RequireRefusal(config.status());
  Require(config->rank >= 1, "a rank is above 0");
  Require(std::isfinite(config->alpha) && config->alpha > 0,
          "alpha is above 0");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyText)

}  // namespace footprint
