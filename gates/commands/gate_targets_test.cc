#include "footprint/gates/commands/gate_targets.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(GateTargetsTest, AreThoseOfTheRuleOrFootprintsOwn) {
  unsetenv("FOOTPRINT_GATE_TARGETS");
  EXPECT_EQ(GateTarget("check"), "//gates:check");
  EXPECT_EQ(NameGateTargets("bazel run //gates:check, //gates:diff -- OLD"),
            "bazel run //gates:check, //gates:diff -- OLD");
  setenv("FOOTPRINT_GATE_TARGETS", "check=//app:memory,update=//app:update", 1);
  EXPECT_EQ(GateTarget("check"), "//app:memory");
  EXPECT_EQ(GateTarget("import"), "//gates:import");
  EXPECT_EQ(NameGateTargets("bazel run //gates:check -- --all\n//gates:update"),
            "bazel run //app:memory -- --all\n//app:update");
  EXPECT_EQ(NameGateTargets(""), "");
  unsetenv("FOOTPRINT_GATE_TARGETS");
}

}  // namespace
}  // namespace footprint
