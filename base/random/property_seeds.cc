#include "footprint/base/random/property_seeds.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace footprint {

uint32_t PropertySeedCount() {
  const char* asked = std::getenv("FOOTPRINT_PROPERTY_SEEDS");
  if (asked == nullptr) return 200;
  uint32_t count = 0;
  if (!absl::SimpleAtoi(asked, &count) || count == 0) {
    std::fprintf(
        stderr, "FOOTPRINT_PROPERTY_SEEDS=%s: write a number above 0\n", asked);
    std::exit(1);
  }
  return count;
}

}  // namespace footprint
