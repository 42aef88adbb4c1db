#include "footprint/memo/product/copied_parameter.h"

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

struct State {};
using Value = std::vector<float>;

void ByCopy(State&, Value) {}
void ByReference(State&, const Value&) noexcept {}

struct Overloaded {
  void operator()(State&, const Value&) const {}
  void operator()(State&, int) const {}
};

template <typename Function>
bool IsACopy(const Function&) {
  return TakesACopy<Function, State, Value>();
}

TEST(CopiedParameterTest, IsSeenInFunctionsLambdasAndTheirWrappers) {
  EXPECT_TRUE(IsACopy(&ByCopy));
  EXPECT_TRUE((TakesACopy<decltype(ByCopy), State, Value>()));
  EXPECT_TRUE(IsACopy([](State&, Value) {}));
  EXPECT_TRUE(IsACopy([](State&, Value) mutable noexcept {}));
  EXPECT_TRUE(IsACopy([](State&, const Value) noexcept {}));
  EXPECT_TRUE(IsACopy(std::function<void(State&, Value)>()));
}

TEST(CopiedParameterTest, IsNotAReferenceAScalarOrWhatIsUnknown) {
  EXPECT_FALSE(IsACopy(&ByReference));
  EXPECT_FALSE(IsACopy([](State&, const Value&) {}));
  EXPECT_FALSE(IsACopy(std::function<void(State&, const Value&)>()));
  EXPECT_FALSE((TakesACopy<void (*)(State&, int), State, int>()));
  EXPECT_FALSE(IsACopy(Overloaded()));
  EXPECT_FALSE(IsACopy([](State&, const auto&) {}));
  EXPECT_FALSE((TakesACopy<void (*)(State&, std::string), State, Value>()));
}

}  // namespace
}  // namespace footprint::memo_internal
