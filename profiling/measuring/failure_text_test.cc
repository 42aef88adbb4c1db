// Tests what failure_text.h promises.

#include "footprint/profiling/measuring/failure_text.h"

#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string Scrub(const std::string& text) {
  FailureTextOptions options;
  options.folders = {"/tmp/footprint.Xy12Ab", "/home/me/bin"};
  options.process_id = 4711;
  return StableFailureText(text, options);
}

TEST(FailureTextTest, RemovesWhatBelongsToOneRun) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"plain text\n", "plain text\n"},
      {"cannot open /tmp/footprint.Xy12Ab/rows.csv", "cannot open rows.csv"},
      {"in /tmp/footprint.Xy12Ab: empty", "in .: empty"},
      {"/home/me/bin/x: error while loading", "x: error while loading"},
      {"==4711==ERROR", "==PID==ERROR"},
      {"pid 4711.", "pid PID."},
      {"14711 and 47110 rows", "14711 and 47110 rows"},
      {"at 0x7ffd12345678 in main", "at 0xADDRESS in main"},
      {"flags 0x1f", "flags 0x1f"},
      {"2026-11-21T07:20:00+00:00\nRunning x", "TIME\nRunning x"},
      {"2026-11-21T07:20:00Z.", "TIME."},
      {"2026-11-21T07:20:0", "2026-11-21T07:20:0"},
      {"0x12345678901234567 0xabcdefg", "0x12345678901234567 0xabcdefg"},
      {"Load Average: 1", ""},
      {"on 2026-11-21 07:20:00.123 it", "on TIME it"},
      {"a\nLoad Average: 0.08, 0.03, 0.02\nb", "a\nb"},
      {"caf\xc3\xa9 \x1b[31mred\x01\ttab", "caf?? ?[31mred?\ttab"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Scrub(text), expected);
}

// A 3 is more often an exit status than a process ID.
TEST(FailureTextTest, TakesASmallNumberForAProcessOnlyIfItSaysSo) {
  FailureTextOptions options;
  options.process_id = 3;
  EXPECT_EQ(StableFailureText("layer 3 failed", options), "layer 3 failed");
  EXPECT_EQ(StableFailureText("==3==ERROR pid=3 process 3, pid 33", options),
            "==PID==ERROR pid=PID process PID, pid 33");
}

TEST(FailureTextTest, KeepsWholeLinesOfTheEnd) {
  std::string text;
  for (int line = 0; line < 2000; ++line)
    absl::StrAppend(&text, "line ", line, "\n");
  const std::string kept = Scrub(text);
  EXPECT_LE(kept.size(), kFailureTextBytes);
  EXPECT_GT(kept.size(), kFailureTextBytes - 20);
  EXPECT_EQ(kept.substr(0, 5), "line ");
  EXPECT_EQ(text.substr(text.size() - kept.size()), kept);
}

TEST(FailureTextTest, KeepsTheEndOfOneLongLine) {
  EXPECT_EQ(Scrub(std::string(100000, 'x')).size(), kFailureTextBytes);
}

TEST(FailureTextTest, AnyBytesBecomePlainText) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    std::string text(random() % 20000, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    const std::string scrubbed = Scrub(text);
    EXPECT_LE(scrubbed.size(), kFailureTextBytes);
    for (char byte : scrubbed) {
      ASSERT_TRUE((byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\t');
    }
  }
}

}  // namespace
}  // namespace footprint
