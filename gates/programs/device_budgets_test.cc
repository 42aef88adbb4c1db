#include "footprint/gates/programs/device_budgets.h"

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(DeviceBudgetsTest, EachDeviceIsABudget) {
  TrialRequest request;
  ASSERT_THAT(
      AddDeviceBudgets(
          WriteTestFile("good.textproto",
                        "schema_version: 1\n"
                        "device { name: 'box' ram: '8MiB' reserve: '1MiB' }\n"
                        "device { name: 'desk' ram: '1GiB' }\n"),
          &request),
      IsOk());
  ASSERT_EQ(request.devices_size(), 2);
  EXPECT_EQ(request.devices(0).device(), "box");
  EXPECT_EQ(request.devices(0).budget_bytes(), 7 << 20);
  EXPECT_EQ(request.devices(1).budget_bytes(), 1 << 30);
}

TEST(DeviceBudgetsTest, AMistakeSaysWhere) {
  TrialRequest request;
  EXPECT_THAT(AddDeviceBudgets(
                  WriteTestFile("bad.textproto",
                                "schema_version: 1\ndevice { name: 'box' }\n"),
                  &request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("bad.textproto:2")));
  EXPECT_THAT(AddDeviceBudgets("/no/such.textproto", &request),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(request.devices_size(), 0);
}

}  // namespace
}  // namespace footprint
