#include "footprint/gates/commands/number_flags.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

CommandFlags Given(const std::string& value) {
  const absl::StatusOr<CommandFlags> flags =
      CommandFlags::Parse({absl::StrCat("--size=", value)}, {"size"}, {});
  EXPECT_THAT(flags, IsOk());
  return *flags;
}

TEST(NumberFlagsTest, AFlagThatIsNotGivenChangesNothing) {
  int64_t number = 7;
  EXPECT_THAT(SetNumberFlag(CommandFlags(), "size", 10, &number), IsOk());
  EXPECT_THAT(SetBytesFlag(CommandFlags(), "size", &number), IsOk());
  EXPECT_EQ(number, 7);
}

TEST(NumberFlagsTest, NumbersHaveAMost) {
  int64_t number = 7;
  EXPECT_THAT(SetNumberFlag(Given("10"), "size", 10, &number), IsOk());
  EXPECT_EQ(number, 10);
  EXPECT_THAT(SetNumberFlag(Given("0"), "size", 10, &number), IsOk());
  EXPECT_EQ(number, 0);
  for (const char* wrong : {"", "11", "-1", "1k", "9223372036854775808"}) {
    EXPECT_THAT(SetNumberFlag(Given(wrong), "size", 10, &number),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "--size must be a number from 0 to 10"))
        << wrong;
  }
  EXPECT_EQ(number, 0);
}

TEST(NumberFlagsTest, BytesHaveAUnit) {
  int64_t bytes = 7;
  EXPECT_THAT(SetBytesFlag(Given("2MiB"), "size", &bytes), IsOk());
  EXPECT_EQ(bytes, 2 << 20);
  EXPECT_THAT(SetBytesFlag(Given("much"), "size", &bytes),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(bytes, 2 << 20);
}

}  // namespace
}  // namespace footprint
