#include "footprint/trainer_manager/c/properties.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(PropertiesTest, TakesEachTypeAndPassesOverSpaces) {
  auto properties = Properties::Parse(
      " unit = 10,bias=false , rate=0.5, name=two words, budget=24 MB");
  ASSERT_THAT(properties, IsOk());
  int64_t unit = 0;
  bool bias = true;
  float rate = 0;
  std::string name;
  int64_t budget = 0;
  int64_t absent = 7;
  properties->Take("unit", &unit);
  properties->Take("bias", &bias);
  properties->Take("rate", &rate);
  properties->Take("name", &name);
  properties->TakeBytes("budget", &budget);
  properties->Take("absent", &absent);
  EXPECT_THAT(properties->Finish("layer"), IsOk());
  EXPECT_EQ(unit, 10);
  EXPECT_FALSE(bias);
  EXPECT_EQ(rate, 0.5f);
  EXPECT_EQ(name, "two words");
  EXPECT_EQ(budget, 24000000);
  EXPECT_EQ(absent, 7);
}

// Paths may have commas, and most of them have no backslash that must change.
TEST(PropertiesTest, AValueMayHaveCommas) {
  auto properties = Properties::Parse(
      R"(swap_folder=/data/a\,b\,c, name=C:\d\\e, end=f\\, last=\)");
  ASSERT_THAT(properties, IsOk());
  const auto take = [&](const char* key) {
    std::string value;
    properties->Take(key, &value);
    return value;
  };
  EXPECT_EQ(take("swap_folder"), "/data/a,b,c");
  EXPECT_EQ(take("name"), R"(C:\d\e)");
  EXPECT_EQ(take("end"), R"(f\)");
  EXPECT_EQ(take("last"), R"(\)");
  EXPECT_THAT(properties->Finish("layer"), IsOk());
}

TEST(PropertiesTest, AnEmptyTextHoldsNothing) {
  for (const char* text : {"", "  "}) {
    const auto properties = Properties::Parse(text);
    ASSERT_THAT(properties, IsOk());
    EXPECT_THAT(properties->Finish("layer"), IsOk());
  }
}

TEST(PropertiesTest, RefusesWhatIsNotAProperty) {
  for (const char* text : {"unit", "unit=", "=3", ",", "unit=1,", "a=1,,b=2"}) {
    EXPECT_THAT(Properties::Parse(text).status(),
                StatusIs(kInvalid, HasSubstr("write KEY=VALUE")))
        << text;
  }
  EXPECT_THAT(Properties::Parse("unit=1, unit=1").status(),
              StatusIs(kInvalid, HasSubstr("\"unit\" is given twice")));
  // The second "=" belongs to the value.
  EXPECT_THAT(Properties::Parse("name=a=b"), IsOk());
}

TEST(PropertiesTest, NamesAKeyThatNobodyTookWithTheNearest) {
  auto properties = Properties::Parse("unitt=10");
  ASSERT_THAT(properties, IsOk());
  int64_t unit = 0;
  properties->Take("unit", &unit);
  EXPECT_THAT(
      properties->Finish("fully_connected"),
      StatusIs(kInvalid, AllOf(HasSubstr("fully_connected"),
                               HasSubstr("\"unitt\""), HasSubstr("\"unit\""))));
}

TEST(PropertiesTest, NamesTheFirstMalformedValue) {
  const auto error_of = [](const std::string& text) {
    auto properties = Properties::Parse(text);
    int64_t number = 0;
    float real = 0;
    bool truth = false;
    int64_t bytes = 0;
    properties->Take("number", &number);
    properties->Take("real", &real);
    properties->Take("truth", &truth);
    properties->TakeBytes("bytes", &bytes);
    return properties->Finish("layer");
  };
  EXPECT_THAT(error_of("number=1.5"),
              StatusIs(kInvalid, HasSubstr("\"number\" is \"1.5\"; a whole")));
  EXPECT_THAT(error_of("number=99999999999999999999"), StatusIs(kInvalid));
  EXPECT_THAT(error_of("real=much"),
              StatusIs(kInvalid, HasSubstr("\"real\" is \"much\"; a number")));
  EXPECT_THAT(error_of("truth=1"),
              StatusIs(kInvalid, HasSubstr("true or false")));
  EXPECT_THAT(error_of("bytes=a lot"),
              StatusIs(kInvalid, HasSubstr("a number of bytes")));
  EXPECT_THAT(error_of("truth=1, number=x"),
              StatusIs(kInvalid, HasSubstr("\"number\"")));
}

TEST(PropertiesTest, NamesAKeyThatIsMissing) {
  auto properties = Properties::Parse("stride=1");
  ASSERT_THAT(properties, IsOk());
  properties->Require("stride");
  EXPECT_TRUE(properties->Has("stride"));
  EXPECT_FALSE(properties->Has("filters"));
  int64_t stride = 0;
  properties->Take("stride", &stride);
  EXPECT_THAT(properties->Finish("conv2d"), IsOk());
  properties->Require("filters");
  EXPECT_THAT(properties->Finish("conv2d"),
              StatusIs(kInvalid, HasSubstr("\"filters\" is missing")));
}

}  // namespace
}  // namespace footprint
