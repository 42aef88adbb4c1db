#include "footprint/gates/fleet/fleet_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kGood[] =
    "schema_version: 1\n"
    "device { name: 'box' ram: '512MiB' reserve: '64MiB' deployment: 'a' }\n"
    "deployment { name: 'a' label: '//a:b' }\n";

TEST(FleetFileTest, AGoodFleetIsRead) {
  const FleetSource source = ParseFleetFile("f.textproto", kGood);
  EXPECT_THAT(source.problems, IsEmpty());
  EXPECT_EQ(source.fleet.device(0).deployment(0), "a");
}

TEST(FleetFileTest, TheReserveIsNotForDeployments) {
  Device device;
  device.set_ram("512MiB");
  EXPECT_EQ(BytesForDeployments(device), 512 << 20);
  device.set_reserve("64MiB");
  EXPECT_EQ(BytesForDeployments(device), 448 << 20);
}

void ExpectProblem(const std::string& text, const std::string& place,
                   const std::string& what) {
  EXPECT_THAT(
      ParseFleetFile("f.textproto", text).problems,
      ElementsAre(testing::AllOf(testing::StartsWith(place), HasSubstr(what))))
      << text;
}

TEST(FleetFileTest, AnUnknownDeploymentSaysWhereAndWhatWasMeant) {
  ExpectProblem(
      "schema_version: 1\n"
      "device { name: 'box' ram: '1GiB' deployment: 'regresion' }\n"
      "deployment { name: 'regression' label: '//a:b' }\n",
      "f.textproto:2:1: device \"box\" names deployment \"regresion\", which "
      "the fleet does not have",
      "did you mean \"regression\"?); correct the name, or add deployment");
}

TEST(FleetFileTest, SizesAreSizesAndLeaveSomething) {
  ExpectProblem("schema_version: 1\ndevice { name: 'box' ram: '5 parsecs' }",
                "f.textproto:2:1: device \"box\": ram: ", "parsecs");
  ExpectProblem("schema_version: 1\ndevice { name: 'box' }",
                "f.textproto:2:1: ", "ram");
  ExpectProblem(
      "schema_version: 1\n"
      "device { name: 'box' ram: '1GiB' reserve: '1024MiB' }",
      "f.textproto:2:1: ", "which leaves nothing");
  ExpectProblem("schema_version: 1\ndevice { name: 'box' ram: '0' }",
                "f.textproto:2:1: ", "a reserve of 0, which leaves nothing");
}

TEST(FleetFileTest, NamesStandOnceAndAreThere) {
  ExpectProblem(
      "schema_version: 1\n"
      "device { name: 'box' ram: '1GiB' }\ndevice { name: 'box' ram: '1GiB' }",
      "f.textproto:3:1: ", "named twice");
  ExpectProblem("schema_version: 1\ndevice { ram: '1GiB' }",
                "f.textproto:2:1: ", "has no name");
  ExpectProblem(std::string(kGood) + "deployment { name: 'c' }",
                "f.textproto:4:1: ", "has no label");
  ExpectProblem(
      "schema_version: 1\n"
      "device { name: 'x' ram: '1GiB' deployment: 'a' deployment: 'a' }\n"
      "deployment { name: 'a' label: '//a:b' }",
      "f.textproto:2:1: ", "twice");
}

TEST(FleetFileTest, WhatIsNoFleetIsRefused) {
  EXPECT_THAT(
      ParseFleetFile("f.textproto", "").problems,
      ElementsAre(HasSubstr("schema version 0"), HasSubstr("holds no device")));
  ExpectProblem("schema_version: 2\ndevice { name: 'box' ram: '1GiB' }",
                "f.textproto: ", "schema version 2");
  ExpectProblem("schema_version: 1\nroom: 3", "f.textproto:2:", "room");
  ExpectProblem("schema_version: 1", "f.textproto: ", "holds no device");
}

}  // namespace
}  // namespace footprint
