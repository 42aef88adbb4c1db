#include "footprint/gates/sandbox/missing_mechanism.h"

#include <cstdlib>

#include "footprint/gates/sandbox/host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

void CheckThatItMayBeMissing(const std::string& mechanism) {
  ASSERT_EQ(std::getenv("FOOTPRINT_SANDBOX_REQUIRED"), nullptr)
      << "this host has no " << mechanism;
  ASSERT_THAT(mechanism, AnyOf(HasSubstr("cgroup memory:"),
                               HasSubstr("namespaces are refused")));
}

}  // namespace

std::string MissingMechanism() {
  const HostDescription host = DescribeHost();
  if (host.missing.empty()) return "";
  CheckThatItMayBeMissing(host.missing[0]);
  return host.missing[0];
}

}  // namespace footprint
