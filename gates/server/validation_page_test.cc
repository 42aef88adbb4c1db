#include "footprint/gates/server/validation_page.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ValidationPageTest, IsOnePageThatLoadsNothing) {
  const std::string page = ValidationPage();
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, testing::EndsWith("</html>\n"));
  for (const char* other :
       {"http://", "https://", "src=", "@import", "innerHTML", "eval("}) {
    EXPECT_THAT(page, Not(HasSubstr(other)));
  }
}

TEST(ValidationPageTest, ItsPolicyAllowsItsOwnScriptAlone) {
  const std::string policy = ValidationPagePolicy();
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy,
              testing::ContainsRegex("script-src 'sha256-[A-Za-z0-9+/]{43}='"));
}

}  // namespace
}  // namespace footprint
