#include "footprint/base/machine/cpu_group.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(CpuGroupTest, AGroupOfVersion1HasItsShares) {
  std::string path;
  for (const auto& [weight, shares] :
       {std::pair<int, std::string>{100, "1024\n"},
        {400, "4096\n"},
        {1, "10\n"},
        {10000, "102400\n"},
        {0, "10\n"}}) {
    const absl::StatusOr<CpuGroup> group = CpuGroup::Create(weight, "", false);
    if (absl::IsFailedPrecondition(group.status())) {
      GTEST_SKIP() << "NOT TESTED: " << group.status();
    }
    ASSERT_THAT(group, IsOk());
    EXPECT_NE(group->path(), path);
    path = group->path();
    EXPECT_EQ(ReadTestFile(path + "/cpu.shares"), shares);
    EXPECT_GE(group->processes_descriptor(), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "it is removed";
}

// A process that joined the group would leave that of its memory.
TEST(CpuGroupTest, AHierarchyThatMemoryHasTooIsRefused) {
  const absl::StatusOr<CpuGroup> other = CpuGroup::Create(100, "", false);
  if (absl::IsFailedPrecondition(other.status())) {
    GTEST_SKIP() << "NOT TESTED: " << other.status();
  }
  ASSERT_THAT(other, IsOk());
  EXPECT_THAT(CpuGroup::Create(100, other->path(), false),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("mount cpu and memory apart")));
  EXPECT_THAT(CpuGroup::Create(100, testing::TempDir(), false), IsOk());
}

// The folder stands for one of the kernel's, which has the files already.
class Version2Test : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    above_ = TestPath(name);
    std::filesystem::create_directories(above_ + "/group");
    WriteTestFile(name + "/cgroup.subtree_control", "memory\n");
    WriteTestFile(name + "/group/cpu.weight", "");
  }

  std::string above_;
};

TEST_F(Version2Test, TheWeightOfTheGroupIsSet) {
  const absl::StatusOr<CpuGroup> group =
      CpuGroup::Create(400, above_ + "/group", true);
  ASSERT_THAT(group, IsOk());
  EXPECT_EQ(group->path(), "");
  EXPECT_EQ(group->processes_descriptor(), -1);
  EXPECT_EQ(ReadTestFile(above_ + "/group/cpu.weight"), "400");
  EXPECT_THAT(ReadTestFile(above_ + "/cgroup.subtree_control"),
              HasSubstr("+cpu"));
}

TEST_F(Version2Test, AGroupWithoutTheControllerIsNamed) {
  std::filesystem::remove(above_ + "/group/cpu.weight");
  EXPECT_THAT(CpuGroup::Create(400, above_ + "/group", true),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("cpu.weight cannot be set: No such file or "
                                 "directory; under systemd: Delegate=cpu")));
}

}  // namespace
}  // namespace footprint
