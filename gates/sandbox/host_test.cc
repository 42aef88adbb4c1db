#include "footprint/gates/sandbox/host.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(HostTest, NamesTheKernelAndEitherWhatIsThereOrWhatIsMissing) {
  const HostDescription host = DescribeHost();
  EXPECT_THAT(host.kernel, HasSubstr("Linux "));
  if (host.missing.empty()) {
    EXPECT_THAT(host.present, Contains(HasSubstr("cgroup")));
    EXPECT_THAT(host.present, Contains("seccomp"));
  }
  for (const std::string& each : host.missing) {
    // The line has the reason and what to do.
    EXPECT_THAT(each, HasSubstr(": "));
    EXPECT_THAT(each, Not(HasSubstr("\n")));
  }
}

TEST(HostTest, TheTextHasTheKernelAndALineForEachList) {
  HostDescription host;
  host.kernel = "Linux 6.1.0";
  host.present = {"cgroup v2 memory", "seccomp"};
  EXPECT_EQ(HostText(host),
            "Linux 6.1.0\npresent: cgroup v2 memory, seccomp\n"
            "missing: nothing\n");
  host.missing = {"seccomp: none", "pivot_root: none"};
  host.present.clear();
  EXPECT_EQ(HostText(host),
            "Linux 6.1.0\npresent: \n"
            "missing: seccomp: none; pivot_root: none\n");
}

}  // namespace
}  // namespace footprint
