#include "footprint/base/text/text_format_errors.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/wrappers.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

class Lines : public TextFormatErrors {
 public:
  void Add(int line, int column, const std::string& message) override {
    lines.push_back(absl::StrCat(line, ":", column, ": ", message));
  }
  std::vector<std::string> lines;
};

TEST(TextFormatErrorsTest, EachErrorHasItsPlaceFromZero) {
  Lines errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  google::protobuf::Int32Value message;
  EXPECT_TRUE(parser.ParseFromString("value: 3", &message));
  EXPECT_THAT(errors.lines, testing::IsEmpty());
  EXPECT_FALSE(parser.ParseFromString("value: 3\n  room: 4", &message));
  EXPECT_THAT(errors.lines,
              testing::ElementsAre(testing::AllOf(testing::StartsWith("1:"),
                                                  testing::HasSubstr("room"))));
}

}  // namespace
}  // namespace footprint
