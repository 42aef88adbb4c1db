#include "footprint/gates/server/duration_histograms.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

std::string TextOf(const DurationHistograms& histograms) {
  std::string text;
  histograms.AppendMetric("waiting_seconds", "Time that trials waited.", &text);
  return text;
}

constexpr char kDescription[] =
    "# TYPE footprint_waiting_seconds histogram\n"
    "# UNIT footprint_waiting_seconds seconds\n"
    "# HELP footprint_waiting_seconds Time that trials waited.\n";

TEST(DurationHistogramsTest, WithoutDurationsThereIsTheDescriptionAlone) {
  EXPECT_EQ(TextOf(DurationHistograms()), kDescription);
}

TEST(DurationHistogramsTest, ADurationCountsUpToItsBoundAndBeyond) {
  DurationHistograms histograms;
  // A bound belongs to its own count.
  for (const double seconds : {-3.0, 1.0, 1.5, 900.0, 14400.5}) {
    histograms.Add("ci", seconds);
  }
  EXPECT_EQ(
      TextOf(histograms),
      std::string(kDescription) +
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"1.0\"} 2\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"5.0\"} 3\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"15.0\"} 3\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"60.0\"} 3\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"300.0\"} 3\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"900.0\"} 4\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"3600.0\"} 4\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"14400.0\"} "
          "4\n"
          "footprint_waiting_seconds_bucket{token=\"ci\",le=\"+Inf\"} 5\n"
          "footprint_waiting_seconds_count{token=\"ci\"} 5\n"
          "footprint_waiting_seconds_sum{token=\"ci\"} 15303\n");
}

TEST(DurationHistogramsTest, ALargeSumStillGrowsByAFractionOfASecond) {
  DurationHistograms histograms;
  histograms.Add("ci", 123456789);
  histograms.Add("ci", 0.25);
  EXPECT_THAT(TextOf(histograms),
              HasSubstr("_sum{token=\"ci\"} 123456789.25\n"));
}

TEST(DurationHistogramsTest, ThreadsLoseNoDuration) {
  DurationHistograms histograms;
  std::vector<std::thread> threads;
  for (const char* token : {"a", "b", "a", "b"}) {
    threads.emplace_back([&histograms, token] {
      for (int i = 0; i < 1000; ++i) histograms.Add(token, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = TextOf(histograms);
  EXPECT_THAT(text, HasSubstr("_count{token=\"a\"} 2000\n"));
  EXPECT_THAT(text, HasSubstr("_sum{token=\"b\"} 4000\n"));
}

}  // namespace
}  // namespace footprint
