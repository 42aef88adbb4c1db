#include "footprint/base/files/sealed_proto_file.h"

#include <cstdint>
#include <string>

#include "footprint/base/files/sealed_test_message.pb.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr SealedProtoFormat kFormat = {"list of sizes", 3, "list them again"};

SealedTestMessage Example() {
  SealedTestMessage message;
  for (const char* name : {"one", "two", "three", "four"}) {
    (*message.mutable_sizes())[name] = 4096;
  }
  return message;
}

// Returns the bytes of a file that holds `message`.
std::string Sealed(const SealedTestMessage& message,
                   const SealedProtoFormat& format = kFormat) {
  const std::string path = TestPath("sealed");
  EXPECT_THAT(WriteSealedProto(format, message, path), IsOk());
  return ReadTestFile(path);
}

absl::Status TryRead(const std::string& bytes) {
  SealedTestMessage message;
  return ReadSealedProto(kFormat, WriteTestFile("read", bytes), &message);
}

TEST(SealedProtoFileTest, ReadsWhatItWrote) {
  const std::string path = TestPath("whole");
  ASSERT_THAT(WriteSealedProto(kFormat, Example(), path), IsOk());
  SealedTestMessage read;
  const absl::Status status = ReadSealedProto(kFormat, path, &read);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(read.schema_version(), 3);
  EXPECT_FALSE(read.complete());
  EXPECT_EQ(read.sizes_size(), 4);
  // The order of a map varies, but that of the file does not.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Sealed(Example()), ReadTestFile(path));
}

// Computes the checksum bit by bit, as the standard defines it.
uint32_t Crc32(const std::string& bytes) {
  uint32_t remainder = 0xFFFFFFFF;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const uint32_t lowest = (remainder ^ static_cast<uint32_t>(c >> bit)) & 1;
      remainder = (remainder >> 1) ^ (lowest != 0 ? 0xEDB88320 : 0);
    }
  }
  return ~remainder;
}

TEST(SealedProtoFileTest, EndsWithAFieldThatOthersPassOver) {
  const std::string whole = Sealed(Example());
  const size_t size = whole.size() - 6;
  std::string end = "\x85\x01";
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    end += static_cast<char>(Crc32(whole.substr(0, size)) >> shift);
  }
  EXPECT_EQ(whole.substr(size), end);
  SealedTestMessage read;
  ASSERT_TRUE(read.ParseFromString(Sealed(Example())));
  EXPECT_EQ(read.sizes_size(), 4);
  EXPECT_TRUE(read.complete());
}

TEST(SealedProtoFileTest, RefusesEveryFlippedBitAndEveryCut) {
  const std::string whole = Sealed(Example());
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(TryRead(damaged), Not(IsOk())) << "bit " << bit;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(TryRead(whole.substr(0, size)), Not(IsOk())) << size;
  }
  EXPECT_THAT(TryRead(whole + "x"), Not(IsOk()));
}

TEST(SealedProtoFileTest, SaysWhatIsWrongAndWhatToDo) {
  struct Case {
    std::string bytes;
    absl::StatusCode code;
    const char* text;
  };
  const std::string whole = Sealed(Example());
  std::string damaged = whole;
  damaged[10] = static_cast<char>(damaged[10] ^ 1);
  SealedTestMessage old = Example();
  old.set_schema_version(3);
  old.set_complete(true);
  SealedTestMessage cut = old;
  cut.clear_complete();
  for (const Case& wrong :
       {Case{"", absl::StatusCode::kDataLoss, "is empty"},
        {damaged, absl::StatusCode::kDataLoss, "is damaged: its checksum"},
        {"no message", absl::StatusCode::kInvalidArgument,
         "is no list of sizes"},
        {cut.SerializeAsString(), absl::StatusCode::kDataLoss,
         "is no whole list of sizes"},
        {old.SerializeAsString(), absl::StatusCode::kFailedPrecondition,
         "has no checksum"},
        {Sealed(Example(), {"list", 4, ""}),
         absl::StatusCode::kFailedPrecondition,
         "has schema version 4, and this program reads up to 3"}}) {
    const absl::Status status = TryRead(wrong.bytes);
    EXPECT_THAT(status, StatusIs(wrong.code));
    EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.text));
    EXPECT_THAT(std::string(status.message()), HasSubstr("list them again"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(TestPath("read")));
  }
  SealedTestMessage message;
  EXPECT_THAT(ReadSealedProto(kFormat, TestPath("none"), &message),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
