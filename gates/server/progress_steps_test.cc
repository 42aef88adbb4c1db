#include "footprint/gates/server/progress_steps.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;

TEST(ProgressStepsTest, SpeaksEveryTwoSeconds) {
  int64_t now = 5000;
  std::vector<std::string> said;
  ProgressSteps steps(
      "packing", [&](absl::string_view step) { said.emplace_back(step); },
      [&] { return now; });
  for (now = 5000; now <= 11000; now += 500)
    steps.Note(now * 1024, 20000 << 10);
  steps.Note(11000 << 10, 0);
  now += 2000;
  steps.Note(13000 << 10, 0);
  EXPECT_THAT(
      said, ElementsAre("packing: 6.84 MiB of 19.5 MiB",
                        "packing: 8.79 MiB of 19.5 MiB",
                        "packing: 10.7 MiB of 19.5 MiB", "packing: 12.7 MiB"));
}

TEST(ProgressStepsTest, NobodyListens) {
  int64_t now = 0;
  ProgressSteps steps("packing", {}, [&] { return now; });
  now = 9000;
  steps.Note(1, 2);
  EXPECT_LE(ProgressSteps::Now(), ProgressSteps::Now());
}

}  // namespace
}  // namespace footprint
