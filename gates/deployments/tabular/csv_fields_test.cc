// What csv_fields.h promises, against a plain reading of the whole text.

#include "footprint/gates/deployments/tabular/csv_fields.h"

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Records = std::vector<std::vector<std::string>>;

std::string WriteFile(const std::string& text) {
  const std::string path = testing::TempDir() + "/fields.csv";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

absl::Status ReadRecords(const std::string& text, Records* records,
                         char delimiter = ',') {
  CsvFields fields(delimiter);
  absl::Status status = fields.Open(WriteFile(text));
  if (!status.ok()) return status;
  bool is_new_record = true;
  while (fields.Next()) {
    if (is_new_record) records->emplace_back();
    records->back().emplace_back(fields.text());
    is_new_record = fields.is_last_in_record();
  }
  return fields.status();
}

Records MustRead(const std::string& text) {
  Records records;
  const absl::Status status = ReadRecords(text, &records);
  EXPECT_TRUE(status.ok()) << status;
  return records;
}

std::string ErrorOf(const std::string& text) {
  Records records;
  const absl::Status status = ReadRecords(text, &records);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(CsvFieldsTest, ReadsPlainAndQuotedFields) {
  EXPECT_THAT(
      MustRead("a,b\n1,\"x, \"\"y\"\"\n\"\n"),
      ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "x, \"y\"\n")));
}

TEST(CsvFieldsTest, ReadsEmptyFieldsAndLines) {
  EXPECT_THAT(MustRead(""), ElementsAre());
  EXPECT_THAT(MustRead(","), ElementsAre(ElementsAre("", "")));
  EXPECT_THAT(MustRead("\n\"\"\n"),
              ElementsAre(ElementsAre(""), ElementsAre("")));
}

TEST(CsvFieldsTest, AcceptsWindowsLinesAndAByteOrderMark) {
  EXPECT_THAT(MustRead("\xef\xbb\xbf"
                       "a,b\r\n1,\"2\"\r\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
}

TEST(CsvFieldsTest, PartsFieldsAtTheGivenByteOnly) {
  for (const char delimiter : {';', '\t', '|', '\xff'}) {
    const std::string part(1, delimiter);
    Records records;
    ASSERT_TRUE(
        ReadRecords("a" + part + "\"b" + part + "c\"\n1,2" + part + "\n",
                    &records, delimiter)
            .ok());
    EXPECT_THAT(records, ElementsAre(ElementsAre("a", "b" + part + "c"),
                                     ElementsAre("1,2", "")));
  }
}

TEST(CsvFieldsTest, TellsAQuotedFieldFromAPlainOne) {
  CsvFields fields;
  ASSERT_TRUE(fields.Open(WriteFile("\"\",")).ok());
  ASSERT_TRUE(fields.Next());
  EXPECT_TRUE(fields.is_quoted());
  ASSERT_TRUE(fields.Next());
  EXPECT_FALSE(fields.is_quoted());
}

TEST(CsvFieldsTest, NamesThePlaceOfAnError) {
  EXPECT_THAT(ErrorOf("a,b\n1,2\"\n"), HasSubstr("fields.csv:2:4: a quote"));
  EXPECT_THAT(ErrorOf("a\n\"1\" ,2\n"),
              HasSubstr("fields.csv:2:4: the delimiter"));
  EXPECT_THAT(ErrorOf("a\n\"1,2\n\n"), HasSubstr("fields.csv:4:1: a quoted"));
  EXPECT_THAT(ErrorOf("a\rb\n"), HasSubstr("fields.csv:1:3: a carriage"));
}

TEST(CsvFieldsTest, RefusesAFieldWithoutEnd) {
  const std::string longest(CsvFields::kMaximumFieldBytes, 'x');
  EXPECT_EQ(MustRead(longest + "\n")[0][0], longest);
  EXPECT_THAT(ErrorOf(longest + "x\n"), HasSubstr("a field of more than"));
}

TEST(CsvFieldsTest, ReportsWhatCannotBeOpened) {
  EXPECT_EQ(CsvFields().Open("/missing.csv").code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CsvFields().Open("/").code(), absl::StatusCode::kInternal);
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char byte : text) {
    quoted += byte;
    if (byte == '"') quoted += '"';
  }
  return quoted + "\"";
}

TEST(CsvFieldsTest, ReadsBackRandomRecordsOfAnyLength) {
  std::mt19937 random(1);
  const std::string alphabet = "ab,\"\n\r 19.";
  for (int trial = 0; trial < 300; ++trial) {
    Records expected;
    std::string text;
    const int record_count = static_cast<int>(random() % 20);
    for (int record = 0; record < record_count; ++record) {
      expected.emplace_back();
      const size_t field_count = 1 + random() % 5;
      for (size_t field = 0; field < field_count; ++field) {
        // Some fields are long, so that some cross the edge of a buffer.
        std::string value(random() % (trial % 10 == 0 ? 5000 : 8), ' ');
        for (char& byte : value) byte = alphabet[random() % alphabet.size()];
        expected.back().push_back(value);
        if (field > 0) text += ',';
        text += Quoted(value);
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
    }
    EXPECT_EQ(MustRead(text), expected) << "trial " << trial;
  }
}

TEST(CsvFieldsTest, EndsOnEveryRandomText) {
  std::mt19937 random(2);
  const std::string alphabet = "1,\"\n\r";
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text(random() % 30, ' ');
    for (char& byte : text) byte = alphabet[random() % alphabet.size()];
    Records records;
    const absl::Status status = ReadRecords(text, &records);
    if (!status.ok()) {
      EXPECT_THAT(std::string(status.message()), HasSubstr("fields.csv:"));
    }
  }
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
