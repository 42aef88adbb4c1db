#include "footprint/base/text/progress_bar.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr int64_t kMebibyte = 1 << 20;

// Returns the lines that a bar writes to a file that is not a terminal, and the
// text after the last.
std::vector<std::string> Written(const std::vector<int64_t>& done,
                                 int64_t total, const char* counted = nullptr) {
  FILE* const file = tmpfile();
  EXPECT_NE(file, nullptr);
  ProgressBar bar(file, "packing", counted);
  for (const int64_t bytes : done) bar.Update(bytes, total);
  std::string text(1 << 16, '\0');
  rewind(file);
  text.resize(fread(&text[0], 1, text.size(), file));
  fclose(file);
  return absl::StrSplit(text, '\n');
}

TEST(ProgressBarTest, WritesALineForEveryTenth) {
  std::vector<int64_t> done;
  for (int64_t i = 0; i <= 1000; ++i) done.push_back(i * kMebibyte / 1000);
  const std::vector<std::string> lines = Written(done, kMebibyte);
  // These are 0, 10, ..., 100, and the text after the last.
  ASSERT_THAT(lines, SizeIs(12));
  EXPECT_EQ(lines[0],
            "packing [                                        ]   0 % of 1.0 "
            "MiB");
  EXPECT_EQ(lines[5],
            "packing [####################                    ]  50 % of 1.0 "
            "MiB");
  EXPECT_EQ(lines[10],
            "packing [########################################] 100 % of 1.0 "
            "MiB");
  EXPECT_EQ(lines[11], "");
}

TEST(ProgressBarTest, CountsWhatIsNoBytes) {
  EXPECT_EQ(Written({3}, 9, "runs")[0],
            "packing [#############                           ]  33 % of 9 "
            "runs");
}

TEST(ProgressBarTest, DoesNotRepeatItself) {
  EXPECT_THAT(
      Written({kMebibyte / 2, kMebibyte / 2, kMebibyte / 2 + 1}, kMebibyte),
      SizeIs(2));
}

TEST(ProgressBarTest, IsDoneWithNothingToDo) {
  EXPECT_THAT(Written({0, 0}, 0),
              ElementsAre("packing [########################################] "
                          "100 % of 0.0 MiB",
                          ""));
}

TEST(ProgressBarTest, DrawsOneLineOverAndOverOnATerminal) {
  const int leader = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(leader, 0);
  ASSERT_EQ(grantpt(leader), 0);
  ASSERT_EQ(unlockpt(leader), 0);
  FILE* const terminal = fopen(ptsname(leader), "w");
  ASSERT_NE(terminal, nullptr);
  ProgressBar bar(terminal, "packing");
  bar.Update(kMebibyte / 100, kMebibyte);
  bar.Update(kMebibyte / 50 + 1, kMebibyte);
  bar.Update(kMebibyte, kMebibyte);
  std::string text;
  char byte = 0;  // The last byte is the end of the line.
  while (byte != '\n' && read(leader, &byte, 1) == 1) text += byte;
  fclose(terminal);
  close(leader);
  const std::vector<std::string> drawn = absl::StrSplit(text, '\r');
  // The terminal itself writes the end of a line as "\r\n".
  ASSERT_THAT(drawn, SizeIs(5));
  EXPECT_THAT(drawn[1], testing::HasSubstr("]   0 % of 1.0 MiB"));
  EXPECT_THAT(drawn[2], testing::HasSubstr("]   2 % of 1.0 MiB"));
  EXPECT_THAT(drawn[3], testing::HasSubstr("] 100 % of 1.0 MiB"));
  EXPECT_EQ(drawn[4], "\n");
}

}  // namespace
}  // namespace footprint
