#include "footprint/lowmem/modules/counted_floats.h"

#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

TEST(ByteMeterTest, RemembersTheMost) {
  ByteMeter meter;
  meter.Add(100);
  meter.Add(50);
  meter.Add(-120);
  meter.Add(60);
  EXPECT_EQ(meter.held_bytes(), 90);
  EXPECT_EQ(meter.peak_bytes(), 150);
}

TEST(ByteMeterTest, LosesNothingBetweenThreads) {
  ByteMeter meter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&meter] {
      for (int round = 0; round < 10000; ++round) {
        meter.Add(3);
        meter.Add(-2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(meter.held_bytes(), 40000);
  EXPECT_GE(meter.peak_bytes(), 40000);
  EXPECT_LE(meter.peak_bytes(), 40012);
}

TEST(CountedFloatsTest, AreCountedWhileTheyLive) {
  const auto meter = std::make_shared<ByteMeter>();
  {
    CountedFloats floats(meter, 1000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(floats.data()) % 64, 0u);
    for (int i = 0; i < 1000; ++i) floats.data()[i] = 1;
    EXPECT_EQ(meter->held_bytes(), 4032);
    const CountedFloats nothing;
    EXPECT_EQ(nothing.data(), nullptr);
  }
  EXPECT_EQ(meter->held_bytes(), 0);
  EXPECT_EQ(meter->peak_bytes(), 4032);
}

TEST(CountedFloatsTest, AreCountedOnceWhenMoved) {
  const auto meter = std::make_shared<ByteMeter>();
  {
    CountedFloats first(meter, 16);
    float* const data = first.data();
    CountedFloats second(std::move(first));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(meter->held_bytes(), 64);
    CountedFloats third(meter, 32);
    EXPECT_EQ(meter->held_bytes(), 192);
    third = std::move(second);  // which now holds what `third` held
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(meter->held_bytes(), 192);
    second = CountedFloats();
    EXPECT_EQ(meter->held_bytes(), 64);
  }
  EXPECT_EQ(meter->held_bytes(), 0);
}

}  // namespace
}  // namespace footprint::lowmem_internal
