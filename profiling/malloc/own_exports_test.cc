#include "footprint/profiling/malloc/own_exports.h"

#include <dlfcn.h>

#include <string>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// The tests load the object that withdraws its names, like the agent.
class OwnExportsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    object_ = dlopen("profiling/malloc/withdrawn_exports.so", RTLD_NOW);
    ASSERT_NE(object_, nullptr) << dlerror();
  }
  void TearDown() override { dlclose(object_); }

  bool Withdraw(const char* name) {
    return reinterpret_cast<bool (*)(const char*)>(Find("withdraw"))(name);
  }
  void* Find(const char* name) { return dlsym(object_, name); }

  void* object_ = nullptr;
};

TEST_F(OwnExportsTest, ANameThatIsWithdrawnIsFoundNoMore) {
  ASSERT_NE(Find("withdrawn_name"), nullptr);
  EXPECT_TRUE(Withdraw("withdrawn_name"));
  EXPECT_EQ(Find("withdrawn_name"), nullptr);
  EXPECT_NE(Find("shown_name"), nullptr);
}

TEST_F(OwnExportsTest, WhoeverWasBoundToItStaysSo) {
  const auto function = reinterpret_cast<int (*)()>(Find("withdrawn_name"));
  EXPECT_TRUE(Withdraw("withdrawn_name"));
  EXPECT_EQ(function(), 2);
}

TEST_F(OwnExportsTest, WithdrawingTwiceIsWithdrawingOnce) {
  EXPECT_TRUE(Withdraw("withdrawn_name"));
  EXPECT_TRUE(Withdraw("withdrawn_name"));
  EXPECT_EQ(Find("withdrawn_name"), nullptr);
}

TEST_F(OwnExportsTest, TheNamesOfOtherObjectsStay) {
  EXPECT_TRUE(Withdraw("malloc"));
  EXPECT_TRUE(Withdraw("no_such_name"));
  EXPECT_NE(dlsym(RTLD_DEFAULT, "malloc"), nullptr);
}

TEST_F(OwnExportsTest, KnowsItsOwnFunctions) {
  const auto is_of_this_object =
      reinterpret_cast<bool (*)(const void*)>(Find("is_of_this_object"));
  EXPECT_TRUE(is_of_this_object(Find("shown_name")));
  EXPECT_FALSE(is_of_this_object(dlsym(RTLD_DEFAULT, "malloc")));
  EXPECT_FALSE(is_of_this_object(nullptr));
}

}  // namespace
}  // namespace footprint::profiling_internal
