#include "footprint/base/text/message_json.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/wrappers.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Protobuf's own messages have every type.
TEST(MessageJsonTest, WritesEveryTypeAsAReaderOfJsonExpects) {
  google::protobuf::UninterpretedOption option;
  option.set_identifier_value("a \"name\"\n\xc3\xa9");
  option.set_positive_int_value(std::numeric_limits<uint64_t>::max());
  option.set_negative_int_value(std::numeric_limits<int64_t>::min());
  option.set_double_value(0.5);
  option.add_name()->set_name_part("first");
  option.mutable_name(0)->set_is_extension(true);
  EXPECT_THAT(MessageJson(option),
              AllOf(HasSubstr(R"("identifier_value": "a \"name\"\n\u00e9")"),
                    HasSubstr("\"positive_int_value\": 18446744073709551615"),
                    HasSubstr("\"negative_int_value\": -9223372036854775808"),
                    HasSubstr("\"double_value\": 0.5"),
                    HasSubstr("\"name_part\": \"first\""),
                    HasSubstr("\"is_extension\": true"),
                    Not(HasSubstr("string_value"))));
  google::protobuf::FloatValue number;
  number.set_value(0.25f);
  EXPECT_EQ(MessageJson(number), "{\n  \"value\": 0.25\n}\n");
  google::protobuf::UInt32Value unsigned_number;
  unsigned_number.set_value(4294967295u);
  EXPECT_EQ(MessageJson(unsigned_number), "{\n  \"value\": 4294967295\n}\n");
}

TEST(MessageJsonTest, WritesDefaultsAndNamesOfEnumerations) {
  EXPECT_EQ(MessageJson(google::protobuf::Int64Value()),
            "{\n  \"value\": 0\n}\n");
  google::protobuf::FieldDescriptorProto field;
  field.set_type(google::protobuf::FieldDescriptorProto::TYPE_INT32);
  EXPECT_EQ(MessageJson(field), "{\n  \"type\": \"TYPE_INT32\"\n}\n");
}

TEST(MessageJsonTest, IsReadBackByProtobuf) {
  google::protobuf::FileDescriptorProto file;
  google::protobuf::FileDescriptorProto::descriptor()->file()->CopyTo(&file);
  google::protobuf::FileDescriptorProto again;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(MessageJson(file), &again)
          .ok());
  EXPECT_EQ(again.SerializeAsString(), file.SerializeAsString());
}

TEST(MessageJsonTest, WhatIsNoUtf8AndNoNumberIsSaid) {
  google::protobuf::DoubleValue number;
  number.set_value(std::numeric_limits<double>::infinity());
  EXPECT_EQ(MessageJson(number), "{\n  \"value\": null\n}\n");
  google::protobuf::UninterpretedOption option;
  option.set_identifier_value("a\xff");
  EXPECT_THAT(MessageJson(option), HasSubstr("a\\ufffd"));
}

}  // namespace
}  // namespace footprint
