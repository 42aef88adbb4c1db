#include "footprint/base/testing/fuzz_target.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string& LastBytes() {
  static std::string bytes;
  return bytes;
}

void Remember(absl::string_view bytes) { LastBytes() = std::string(bytes); }

}  // namespace

FOOTPRINT_FUZZ_TARGET(Remember)

namespace {

TEST(FuzzTargetTest, CallsTheFunctionWithTheBytes) {
  const uint8_t bytes[] = {'a', 0, 255};
  EXPECT_EQ(LLVMFuzzerTestOneInput(bytes, sizeof(bytes)), 0);
  EXPECT_EQ(LastBytes(), std::string("a\0\xff", 3));
}

TEST(FuzzTargetTest, EndsWhereARequirementDoesNotHold) {
  Require(true, "this holds");
  EXPECT_DEATH(Require(false, "two is odd"), "two is odd");
}

TEST(FuzzTargetTest, ARefusalIsTheInputsFaultAndSaysWhy) {
  RequireRefusal(absl::InvalidArgumentError("no digit"));
  EXPECT_DEATH(RequireRefusal(absl::OkStatus()), "has an error");
  EXPECT_DEATH(RequireRefusal(absl::InternalError("oops")), "input's fault");
  EXPECT_DEATH(RequireRefusal(absl::UnknownError("oops")), "input's fault");
  EXPECT_DEATH(RequireRefusal(absl::InvalidArgumentError("")), "has a text");
}

}  // namespace
}  // namespace footprint
