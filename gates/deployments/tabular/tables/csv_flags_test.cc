// Tests of the promises of csv_flags.h.

#include "footprint/gates/deployments/tabular/tables/csv_flags.h"

#include <string>
#include <vector>

#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sets these flags, and all others to their defaults.
void SetFlags(std::vector<std::string> flags) {
  std::vector<std::string> words = {
      "program", "--target=", "--ignore=", "--header=auto", "--delimiter=,"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  absl::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

TEST(CsvFlagsTest, AreCommasUnderAHeaderUnlessSaid) {
  SetFlags({});
  const absl::StatusOr<CsvColumns> columns = CsvColumnsOfFlags();
  ASSERT_THAT(columns, IsOk());
  EXPECT_EQ(columns->target, "");
  EXPECT_THAT(columns->ignored, ElementsAre());
  EXPECT_EQ(columns->header, CsvHeader::kAuto);
  EXPECT_EQ(columns->delimiter, ',');
  EXPECT_THAT(RefuseCsvFlags(), IsOk());
}

TEST(CsvFlagsTest, SayWhatTheyAreSetTo) {
  SetFlags({"--target=Close", "--ignore=Date,Volume", "--header=no",
            "--delimiter=;"});
  absl::StatusOr<CsvColumns> columns = CsvColumnsOfFlags();
  ASSERT_THAT(columns, IsOk());
  EXPECT_EQ(columns->target, "Close");
  EXPECT_THAT(columns->ignored, ElementsAre("Date", "Volume"));
  EXPECT_EQ(columns->header, CsvHeader::kNo);
  EXPECT_EQ(columns->delimiter, ';');
  for (const char* tab : {"tab", "\\t", "\t"}) {
    SetFlags({"--header=yes", absl::StrCat("--delimiter=", tab)});
    columns = CsvColumnsOfFlags();
    ASSERT_THAT(columns, IsOk());
    EXPECT_EQ(columns->header, CsvHeader::kYes);
    EXPECT_EQ(columns->delimiter, '\t');
  }
}

TEST(CsvFlagsTest, RefuseWhatCannotPartNumbers) {
  for (const char* text :
       {"", "ab", ";;", "\"", "'", "\n", "\r", "e", "1", "+", "-", "."}) {
    SetFlags({absl::StrCat("--delimiter=", text)});
    EXPECT_THAT(CsvColumnsOfFlags().status().ToString(),
                HasSubstr("--delimiter is \""))
        << text;
  }
  SetFlags({"--header=maybe"});
  EXPECT_THAT(CsvColumnsOfFlags().status().ToString(),
              HasSubstr("--header is \"maybe\"; it must be auto, yes or no"));
}

TEST(CsvFlagsTest, AreRefusedWhereNoCsvIsRead) {
  for (const char* flag :
       {"--target=Close", "--ignore=Date", "--header=no", "--delimiter=;"}) {
    SetFlags({flag});
    const std::string name(flag, std::string(flag).find('='));
    EXPECT_THAT(RefuseCsvFlags().ToString(), HasSubstr(name));
  }
  SetFlags({});
  EXPECT_THAT(RefuseCsvFlags(), IsOk());
}

TEST(CsvFlagsTest, AreAllThatMayBeSaid) {
  std::string words[] = {"program", "Volume", "more"};
  EXPECT_THAT(RefuseArguments({words[0].data()}), IsOk());
  const absl::Status status =
      RefuseArguments({words[0].data(), words[1].data(), words[2].data()});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("\"Volume\" is no flag"));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
