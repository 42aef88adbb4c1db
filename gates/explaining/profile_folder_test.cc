#include "footprint/gates/explaining/profile_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

MemoryProfile Profile(const std::string& label) {
  MemoryProfile profile;
  profile.set_label(label);
  BenchmarkMemory* const benchmark = profile.add_benchmarks();
  benchmark->set_name("BM_X");
  Metric* const metric = benchmark->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_determinism(EXACT);
  metric->set_value(7);
  return profile;
}

// Returns the path of a folder that does not exist.
std::string NewFolder(const std::string& name) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/", name);
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(ProfileFolderTest, ReadsWhatItSaved) {
  const std::string folder = NewFolder("saved/deep");
  ASSERT_THAT(SaveProfiles({Profile("//a:b"), Profile("//c:d")}, folder),
              IsOk());
  // Samples and other files are not profiles.
  std::ofstream(folder + "/x.samples.binpb") << "no profile";
  std::ofstream(folder + "/notes.txt") << "no profile";
  std::filesystem::create_symlink("/nowhere", folder + "/broken.binpb");
  const absl::StatusOr<std::vector<MemoryProfile>> profiles =
      ReadProfiles(testing::TempDir() + "/saved");
  ASSERT_THAT(profiles, IsOk());
  ASSERT_EQ(profiles->size(), 2U);
  EXPECT_EQ((*profiles)[1].label(), "//c:d");
  const absl::StatusOr<std::vector<MemoryProfile>> one =
      ReadProfiles(folder + "/00000.profile.binpb");
  ASSERT_THAT(one, IsOk());
  EXPECT_EQ(one->at(0).label(), "//a:b");
}

TEST(ProfileFolderTest, NeverMixesOldAndNew) {
  const std::string folder = NewFolder("mixed");
  ASSERT_THAT(SaveProfiles({Profile("//a:b")}, folder), IsOk());
  const absl::Status again = SaveProfiles({Profile("//a:b")}, folder);
  EXPECT_TRUE(absl::IsAlreadyExists(again));
  EXPECT_THAT(std::string(again.message()), HasSubstr("holds 1 profiles"));
}

TEST(ProfileFolderTest, SaysWhatCannotBeRead) {
  const std::string folder = NewFolder("empty");
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(absl::IsNotFound(ReadProfiles(folder).status()));
  EXPECT_THAT(std::string(ReadProfiles(folder).status().message()),
              HasSubstr("holds no profile"));
  EXPECT_THAT(ReadProfiles(folder + "/none.binpb"), testing::Not(IsOk()));
  std::ofstream(folder + "/foreign.binpb") << "foreign";
  EXPECT_THAT(ReadProfiles(folder), testing::Not(IsOk()));
  EXPECT_THAT(SaveProfiles({Profile("//a:b")}, "/proc/none/x"),
              testing::Not(IsOk()));
}

}  // namespace
}  // namespace footprint
