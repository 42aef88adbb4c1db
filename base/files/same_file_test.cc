#include "footprint/base/files/same_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// Makes a folder for the test, and enters it.
class SameFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_EQ(mkdir(folder_.c_str(), 0777), 0);
    ASSERT_EQ(chdir(folder_.c_str()), 0);
    std::ofstream("data.csv") << "a,b\n";
    std::ofstream("other.csv") << "a,b\n";
  }
  std::string folder_;
};

TEST_F(SameFileTest, FilesThatAreThere) {
  ASSERT_EQ(link("data.csv", "hard.csv"), 0);
  ASSERT_EQ(symlink("data.csv", "soft.csv"), 0);
  for (const std::string& other :
       {std::string("data.csv"), std::string("./data.csv"),
        folder_ + "/data.csv", std::string("hard.csv"),
        std::string("soft.csv")}) {
    EXPECT_TRUE(IsSameFile("data.csv", other)) << other;
    EXPECT_TRUE(IsSameFile(other, "data.csv")) << other;
  }
  EXPECT_FALSE(IsSameFile("data.csv", "other.csv"));
  EXPECT_FALSE(IsSameFile("data.csv", "none_yet.csv"));
  EXPECT_FALSE(IsSameFile("none_yet.csv", "data.csv"));
}

TEST_F(SameFileTest, FilesThatAreNotThereYet) {
  ASSERT_EQ(mkdir("below", 0777), 0);
  ASSERT_EQ(symlink("below", "link"), 0);
  EXPECT_TRUE(IsSameFile("model", "./model"));
  EXPECT_TRUE(IsSameFile(folder_ + "/model", "model"));
  EXPECT_TRUE(IsSameFile("below/../model", "model"));
  EXPECT_TRUE(IsSameFile("below/model", "link/model"));
  EXPECT_FALSE(IsSameFile("model", "predictions"));
  EXPECT_FALSE(IsSameFile("model", "below/model"));
  EXPECT_FALSE(IsSameFile("none/model", "./none/model"));
  EXPECT_FALSE(IsSameFile("model", "/model"));
  EXPECT_FALSE(IsSameFile("model", std::string(5000, 'x') + "/model"));
}

}  // namespace
}  // namespace footprint
