#include "footprint/profiling/measuring/program_setting.h"

#include <filesystem>
#include <string>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/measuring/program_measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

ProgramMeasurement Example() {
  ProgramMeasurement measurement;
  measurement.label = "//app:load_test";
  measurement.environment = {"LANG=de", "OWN=1"};
  return measurement;
}

TEST(ProgramSettingTest, AProgramStartsInTheFolder) {
  const ProgramSetting setting = DescribeSetting(Example(), "/f");
  EXPECT_EQ(setting.executable, "/f/load_test");
  EXPECT_EQ(setting.name, "./load_test");
  EXPECT_EQ(setting.working_folder, "/f");
  EXPECT_THAT(
      setting.environment,
      ElementsAre("PATH=/usr/bin:/bin", "TZ=UTC",
                  "RUNFILES_DIR=/f/load_test.runfiles", "LANG=de", "OWN=1"));
}

TEST(ProgramSettingTest, ATestStartsInItsRunfiles) {
  ProgramMeasurement measurement = Example();
  measurement.test = {"main", "other/app/load_test"};
  const ProgramSetting setting = DescribeSetting(measurement, "/f");
  EXPECT_EQ(setting.executable, "/f/load_test.runfiles/other/app/load_test");
  EXPECT_EQ(setting.name, setting.executable);
  EXPECT_EQ(setting.working_folder, "/f/load_test.runfiles/main");
  EXPECT_THAT(setting.environment,
              Contains("TEST_SRCDIR=/f/load_test.runfiles"));
  EXPECT_THAT(setting.environment, Contains("TEST_WORKSPACE=main"));
  EXPECT_THAT(setting.environment, Contains("OWN=1"));
}

TEST(ProgramSettingTest, AVariableOfTheTestWins) {
  ProgramMeasurement measurement = Example();
  measurement.test = {"main", "main/load_test"};
  measurement.environment = {"TEST_TMPDIR=/elsewhere", "TEST_TMP=2"};
  const std::vector<std::string> environment =
      DescribeSetting(measurement, "/f").environment;
  EXPECT_THAT(environment, Contains("TEST_TMPDIR=/elsewhere"));
  EXPECT_THAT(environment, Not(Contains(StartsWith("TEST_TMPDIR=/f"))));
  EXPECT_THAT(environment, Contains("TEST_TMP=2"));
}

TEST(ProgramSettingTest, MakesTheFoldersOfATest) {
  const std::string folder = TestPath("prepared");
  fs::remove_all(folder);
  ProgramMeasurement measurement = Example();
  measurement.executable = WriteTestFile("load_test", "#!/bin/sh\n");
  measurement.test = {"main", "main/load_test"};
  measurement.runfiles = {{measurement.executable, "main/load_test"}};
  ASSERT_THAT(PrepareProgram(measurement, folder), IsOk());
  const ProgramSetting setting = DescribeSetting(measurement, folder);
  EXPECT_TRUE(fs::is_regular_file(setting.executable));
  EXPECT_TRUE(fs::is_directory(setting.working_folder));
  EXPECT_TRUE(fs::is_directory(folder + "/_tmp"));
  EXPECT_TRUE(fs::is_directory(folder + "/test.outputs"));
}

}  // namespace
}  // namespace footprint
