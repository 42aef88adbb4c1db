#include "footprint/gates/programs/trial_text.h"

#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

TrialResult FromText(const std::string& text) {
  TrialResult result;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &result));
  return result;
}

TEST(TrialTextTest, HasALineForEachRunAndThePlacesOfThePeak) {
  EXPECT_EQ(
      TrialText(FromText(
          "verdict: ACCEPTED reason: 'needs little' cause: FITS"
          " manifest { entry: 'train' } heap_peak_bytes: 1048576"
          " peak_sites { site: 'fit (train.c:3)' live_bytes: 1048576 }"
          " runs { purpose: MEASURE peak_bytes: 2097152"
          "        peak_resident_bytes: 1048577 limit_bytes: 134217728"
          "        wall_time_ns: 12345678 sandbox_time_ns: 1234567 }"
          " runs { purpose: PROVE peak_bytes: 1 limit_bytes: 33554432 }")),
      "train: needs little\n"
      "  measured: cgroup peak 2.00 MiB (2,097,152 B), resident peak "
      "1.00 MiB (1,048,577 B), limit 128 MiB, status 0, 12345 us and 1234 us "
      "of "
      "sandbox\n"
      "  proved: cgroup peak 1 B, resident peak 0 B, limit 32.0 MiB, status 0, "
      "0 us and 0 us of sandbox\n"
      "  heap peak, by the profiler: 1.00 MiB (1,048,576 B)\n"
      "    1.00 MiB  fit (train.c:3)\n"
      "\nVerdict: ACCEPT\n");
}

TEST(TrialTextTest, SaysHowARunEnded) {
  EXPECT_THAT(TrialText(FromText("runs { is_timed_out: true exit_status: 1 }")),
              HasSubstr(", timed out, "));
  EXPECT_THAT(
      TrialText(FromText("runs { is_out_of_memory: true signal_number: 9 }")),
      HasSubstr(", out of memory, "));
  EXPECT_THAT(TrialText(FromText("runs { signal_number: 11 }")),
              HasSubstr(", signal 11, "));
  EXPECT_THAT(TrialText(FromText("runs { exit_status: 3 }")),
              HasSubstr(", status 3, "));
}

TEST(TrialTextTest, LastWordsAreOfAProgramThatFailed) {
  const std::string runs =
      " runs { standard_error_tail: 'no such file\033[2J' }";
  EXPECT_THAT(TrialText(FromText(
                  "verdict: INCONCLUSIVE_TRIAL cause: PROGRAM_FAILED" + runs)),
              HasSubstr("  last words: no such file\\x1b[2J\n"));
  EXPECT_THAT(TrialText(FromText("verdict: ACCEPTED cause: FITS" + runs)),
              Not(HasSubstr("last words")));
}

TEST(TrialTextTest, SaysWhyThereIsNoExplanation) {
  EXPECT_THAT(TrialText(FromText("explanation_failure: 'a record is torn'")),
              HasSubstr("  not explained: a record is torn\n"));
}

TEST(TrialTextTest, ShowsTheFirstFivePlaces) {
  std::string sites;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    sites += "peak_sites { site: 'site_" + std::string(name) + "' } ";
  }
  const std::string text = TrialText(FromText(sites));
  EXPECT_THAT(text, HasSubstr("site_e"));
  EXPECT_THAT(text, Not(HasSubstr("site_f")));
}

}  // namespace
}  // namespace footprint
