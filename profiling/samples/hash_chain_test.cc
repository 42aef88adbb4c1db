// Tests what hash_chain.h promises.

#include "footprint/profiling/samples/hash_chain.h"

#include <array>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// Tests entries with values, in the chain that `first_` begins.
class HashChainTest : public testing::Test {
 protected:
  auto Matches(int value) const {
    return [this, value](uint32_t i) { return values_[i] == value; };
  }
  auto Next() const {
    return [this](uint32_t i) { return next_[i]; };
  }

  uint32_t Find(int value, uint32_t first) const {
    return FindInChain(first, kNoEntry, Matches(value), Next());
  }

  // Pushes entry `number`. Unless `other` is kNoEntry, another writer pushes it
  // between the search and the exchange.
  uint32_t Push(uint32_t number, uint32_t other) {
    return PushInFront(&first_, first_.load(), number, Matches(values_[number]),
                       Next(), [this, &other](uint32_t i, uint32_t after) {
                         next_[i] = after;
                         if (other == kNoEntry) return;
                         next_[other] = first_.load();
                         first_.store(other);
                         other = kNoEntry;
                       });
  }

  std::atomic<uint32_t> first_{kNoEntry};
  std::array<int, 5> values_ = {0, 10, 20, 30, 20};
  std::array<uint32_t, 5> next_ = {};
};

TEST_F(HashChainTest, WhatWasPushedIsFound) {
  EXPECT_EQ(Find(10, first_.load()), kNoEntry);
  EXPECT_EQ(Push(1, kNoEntry), 1u);
  EXPECT_EQ(Push(2, kNoEntry), 2u);
  EXPECT_EQ(Find(10, first_.load()), 1u);
  EXPECT_EQ(Find(20, first_.load()), 2u);
  EXPECT_EQ(Find(30, first_.load()), kNoEntry);
}

TEST_F(HashChainTest, TheSameOfAnotherThatCameFirstIsTaken) {
  Push(1, kNoEntry);
  EXPECT_EQ(Push(2, /*other=*/4), 4u);
  // The value is in the chain only once.
  EXPECT_EQ(first_.load(), 4u);
  EXPECT_EQ(next_[4], 1u);
}

TEST_F(HashChainTest, AnotherThatDoesNotMatchIsKept) {
  EXPECT_EQ(Push(2, /*other=*/3), 2u);
  EXPECT_EQ(Find(30, first_.load()), 3u);
  EXPECT_EQ(Find(20, first_.load()), 2u);
}

}  // namespace
}  // namespace footprint::profiling_internal
