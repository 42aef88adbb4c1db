#include "footprint/gates/bundles/packing.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(PackingTest, KeepsToTheLimits) {
  PackingOptions options;
  options.limits.archive_bytes = 1 << 20;
  EXPECT_THAT(NotePackedBytes(options, 5, 10, 1 << 20), IsOk());
  EXPECT_THAT(NotePackedBytes(options, 5, 10, (1 << 20) + 1),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("larger than 1.00 MiB (1,048,576 B), the most "
                                 "that is taken; leave out")));
}

TEST(PackingTest, ReportsAndStops) {
  std::vector<std::pair<int64_t, int64_t>> reported;
  bool is_stopped = false;
  PackingOptions options;
  options.report_bytes = [&](int64_t packed, int64_t all) {
    reported.emplace_back(packed, all);
  };
  options.limits.is_stopped = [&] { return is_stopped; };
  EXPECT_THAT(NotePackedBytes(options, 5, 10, 3), IsOk());
  is_stopped = true;
  EXPECT_THAT(NotePackedBytes(options, 6, 10, 3),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(reported, ElementsAre(Pair(5, 10), Pair(6, 10)));
}

}  // namespace
}  // namespace footprint
