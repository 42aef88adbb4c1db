#include "footprint/base/text/csv_parser.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Records = std::vector<std::vector<std::string>>;

// Returns its text in pieces of one size.
class InPieces : public CsvParser {
 public:
  InPieces(absl::string_view text, size_t piece_bytes, char delimiter = ',')
      : CsvParser(delimiter), text_(text), piece_bytes_(piece_bytes) {
    begun_ = Begin("fields.csv");
  }

  const absl::Status& begun() const { return begun_; }

 private:
  absl::StatusOr<absl::string_view> NextBytes() override {
    if (text_ == "unreadable") return absl::InternalError("no more of it");
    // The next piece overwrites this one.
    piece_ = std::string(text_.substr(0, piece_bytes_));
    text_.remove_prefix(piece_.size());
    return absl::string_view(piece_);
  }

  absl::string_view text_;
  const size_t piece_bytes_;
  std::string piece_;
  absl::Status begun_;
};

Records ReadRecords(CsvParser* fields) {
  Records records;
  bool is_new_record = true;
  while (fields->Next()) {
    if (is_new_record) records.emplace_back();
    records.back().emplace_back(fields->text());
    is_new_record = fields->is_last_in_record();
  }
  return records;
}

// Reads the text as a whole and in pieces, which must give the same result.
absl::Status ReadRecords(const std::string& text, Records* records,
                         char delimiter = ',') {
  CsvParser fields("fields.csv", text, delimiter);
  *records = ReadRecords(&fields);
  for (const size_t piece_bytes : {3, 7}) {
    InPieces pieces(text, piece_bytes, delimiter);
    EXPECT_EQ(ReadRecords(&pieces), *records) << text;
    EXPECT_EQ(pieces.status(), fields.status()) << text;
  }
  return fields.status();
}

Records MustRead(const std::string& text) {
  Records records;
  const absl::Status status = ReadRecords(text, &records);
  EXPECT_THAT(status, IsOk());
  return records;
}

std::string FindError(const std::string& text) {
  Records records;
  const absl::Status status = ReadRecords(text, &records);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

TEST(CsvParserTest, ReadsPlainAndQuotedFields) {
  EXPECT_THAT(
      MustRead("a,b\n1,\"x, \"\"y\"\"\n\"\n"),
      ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "x, \"y\"\n")));
}

TEST(CsvParserTest, ReadsEmptyFieldsAndLines) {
  EXPECT_THAT(MustRead(""), ElementsAre());
  EXPECT_THAT(MustRead(","), ElementsAre(ElementsAre("", "")));
  EXPECT_THAT(MustRead("\n\"\"\n"),
              ElementsAre(ElementsAre(""), ElementsAre("")));
}

TEST(CsvParserTest, AcceptsWindowsLinesAndAByteOrderMark) {
  EXPECT_THAT(MustRead("\xef\xbb\xbf"
                       "a,b\r\n1,\"2\"\r\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
}

// Spreadsheets write this as "Unicode text".
TEST(CsvParserTest, SaysThatAFileIsUtf16) {
  const absl::string_view little(
      "\xff\xfe"
      "a\0,\0b\0\n\0",
      10);
  const absl::string_view big("\xfe\xff\0a\0,\0b\0\n", 10);
  for (const absl::string_view text : {little, big}) {
    EXPECT_THAT(FindError(std::string(text)),
                HasSubstr("fields.csv:1:1: this is UTF-16; save it as UTF-8"));
  }
}

TEST(CsvParserTest, PartsFieldsAtTheGivenByteOnly) {
  for (const char delimiter : {';', '\t', '|', '\xff'}) {
    const std::string part(1, delimiter);
    Records records;
    ASSERT_THAT(
        ReadRecords("a" + part + "\"b" + part + "c\"\n1,2" + part + "\n",
                    &records, delimiter),
        IsOk());
    EXPECT_THAT(records, ElementsAre(ElementsAre("a", "b" + part + "c"),
                                     ElementsAre("1,2", "")));
  }
}

TEST(CsvParserTest, TellsAQuotedFieldFromAPlainOne) {
  CsvParser fields("fields.csv", "\"\",");
  ASSERT_TRUE(fields.Next());
  EXPECT_TRUE(fields.is_quoted());
  ASSERT_TRUE(fields.Next());
  EXPECT_FALSE(fields.is_quoted());
}

TEST(CsvParserTest, NamesThePlaceOfAnError) {
  EXPECT_THAT(FindError("a,b\n1,2\"\n"), HasSubstr("fields.csv:2:4: a quote"));
  EXPECT_THAT(FindError("a\n\"1\" ,2\n"),
              HasSubstr("fields.csv:2:4: the delimiter"));
  EXPECT_THAT(FindError("a\n\"1,2\n\n"), HasSubstr("fields.csv:4:1: a quoted"));
  EXPECT_THAT(FindError("a\rb\n"), HasSubstr("fields.csv:1:3: a carriage"));
}

TEST(CsvParserTest, RefusesAFieldWithoutEnd) {
  const std::string longest(CsvParser::kMaximumFieldBytes, 'x');
  EXPECT_THAT(MustRead(longest + "\n"), ElementsAre(ElementsAre(longest)));
  EXPECT_THAT(FindError(longest + "x\n"), HasSubstr("a field of more than"));
}

TEST(CsvParserTest, SaysWhereAFieldBegins) {
  CsvParser fields("x.csv", "a,\"b\n\"\"\",c\nd\n");
  const std::vector<std::pair<int64_t, int64_t>> places = {
      {1, 1}, {1, 3}, {2, 5}, {3, 1}};
  for (const auto& [line, column] : places) {
    ASSERT_TRUE(fields.Next());
    EXPECT_EQ(fields.line(), line);
    EXPECT_EQ(fields.column(), column);
  }
  EXPECT_EQ(fields.Location(), "x.csv:3:1");
  EXPECT_FALSE(fields.Next());
  EXPECT_THAT(fields.status(), IsOk());
}

TEST(CsvParserTest, PassesOnWhatCannotBeRead) {
  const std::string text = "a,b\nunreadable";
  InPieces fields(text, 4);
  EXPECT_EQ(ReadRecords(&fields).size(), 1);
  EXPECT_EQ(fields.status(),
            absl::InternalError("fields.csv:2:1: no more of it"));
}

TEST(CsvParserTest, BeginsWithTheStatusOfTheFirstPiece) {
  EXPECT_THAT(InPieces("a,b\nunreadable", 4).begun(), IsOk());
  EXPECT_EQ(InPieces("unreadable", 4).begun(),
            absl::InternalError("fields.csv:1:1: no more of it"));
  EXPECT_THAT(InPieces("\xff\xfe", 4).begun(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char byte : text) {
    quoted += byte;
    if (byte == '"') quoted += '"';
  }
  return quoted + "\"";
}

TEST(CsvParserTest, ReadsBackRandomRecordsOfAnyLength) {
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

TEST(CsvParserTest, EndsOnEveryRandomText) {
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
}  // namespace footprint
