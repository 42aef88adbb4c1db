#include "footprint/base/safetensors/safetensors.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kGolden[] = "base/safetensors/testdata/golden.safetensors";

std::string Entry(absl::string_view name, absl::string_view dtype,
                  absl::string_view shape, uint64_t begin, uint64_t end) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", dtype,
                      "\",\"shape\":", shape, ",\"data_offsets\":[", begin, ",",
                      end, "]}");
}

// Returns the status of a file with this header and so many bytes of data.
absl::Status TryRead(absl::string_view header, int64_t data_bytes) {
  return SafetensorsIndex::Parse(
             header, 8 + static_cast<int64_t>(header.size()) + data_bytes,
             "model.safetensors")
      .status();
}

TEST(SafetensorsTest, ReadsWhatAnotherImplementationWrote) {
  absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Open(kGolden);
  ASSERT_THAT(index, IsOk());
  EXPECT_THAT(index->metadata(),
              ElementsAre(testing::Pair("format", "pt"),
                          testing::Pair("made by", "struct and json")));
  const std::string bytes = ReadTestFile(kGolden);
  std::vector<std::string> names;
  for (const TensorInfo& tensor : index->tensors()) {
    names.push_back(tensor.name);
  }
  EXPECT_THAT(names, ElementsAre("embeddings.weight", "scalar", "empty", "half",
                                 "brain", "name with \u00e9 and \"quotes\""));
  const TensorInfo& weight = **index->Find("embeddings.weight");
  EXPECT_EQ(weight.dtype, DType::kF32);
  EXPECT_THAT(weight.shape.extents(), ElementsAre(2, 3));
  ASSERT_EQ(weight.size_bytes, 24);
  float values[6];
  memcpy(values, bytes.data() + weight.offset_bytes, sizeof(values));
  EXPECT_THAT(values, ElementsAre(0.5f, -1.0f, 2.0f, 3.25f, -4.5f, 1e-3f));
  const TensorInfo& scalar = **index->Find("scalar");
  EXPECT_EQ(scalar.shape.rank(), 0);
  int64_t value;
  memcpy(&value, bytes.data() + scalar.offset_bytes, sizeof(value));
  EXPECT_EQ(value, -42);
  EXPECT_EQ((*index->Find("empty"))->size_bytes, 0);
  EXPECT_EQ((*index->Find("half"))->dtype, DType::kF16);
  EXPECT_EQ((*index->Find("brain"))->size_bytes, 6);
}

// It would take seconds to sort all the empty tensors that fit into a header.
TEST(SafetensorsTest, RefusesMoreTensorsThanAnyModelHas) {
  std::string header = "{";
  for (size_t i = 0; i <= SafetensorsIndex::kMaximumTensors; ++i) {
    absl::StrAppend(&header, i == 0 ? "" : ",", "\"", i,
                    R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})");
  }
  // The reader stops before the rest.
  absl::StrAppend(&header, ",]}");
  EXPECT_THAT(std::string(TryRead(header, 0).message()),
              HasSubstr("more than 524288 tensors"));
}

// Tensors without bytes all begin at one place.
TEST(SafetensorsTest, KeepsTheHeadersOrderOfEmptyTensors) {
  const std::string header = absl::StrCat(
      "{", Entry("c", "U8", "[0]", 2, 2), ",", Entry("b", "U8", "[2]", 0, 2),
      ",", Entry("a", "U8", "[0]", 2, 2), "}");
  const auto index = SafetensorsIndex::Parse(
      header, 8 + static_cast<int64_t>(header.size()) + 2, "file");
  ASSERT_THAT(index, IsOk());
  std::string names;
  for (const TensorInfo& tensor : index->tensors()) names += tensor.name;
  EXPECT_EQ(names, "bca");
  EXPECT_NE(index->FindOrNull("a"), nullptr);
}

TEST(SafetensorsTest, TakesTensorsInAnyOrderOfTheHeader) {
  const std::string header =
      absl::StrCat("{", Entry("b", "F32", "[1]", 2, 6), ",",
                   Entry("a", "U8", "[2]", 0, 2), "}");
  absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Parse(
      header, 8 + static_cast<int64_t>(header.size()) + 6, "file");
  ASSERT_THAT(index, IsOk());
  EXPECT_EQ(index->tensors()[0].name, "a");
  EXPECT_EQ(index->tensors()[1].offset_bytes,
            8 + static_cast<int64_t>(header.size()) + 2);
}

// A name that is the beginning of another comes first, wherever its bytes are.
TEST(SafetensorsTest, FindsNamesThatBeginAlike) {
  const std::string header = absl::StrCat(
      "{", Entry("ab", "U8", "[1]", 0, 1), ",", Entry("abc", "U8", "[1]", 1, 2),
      ",", Entry("a", "U8", "[1]", 2, 3), "}");
  const absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Parse(
      header, 8 + static_cast<int64_t>(header.size()) + 3, "file");
  ASSERT_THAT(index, IsOk());
  for (const char* const name : {"a", "ab", "abc"}) {
    const absl::StatusOr<const TensorInfo*> found = index->Find(name);
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ((*found)->name, name);
  }
}

// Few names are sorted by insertion, which compares in one direction only.
TEST(SafetensorsTest, FindsNamesThatAFileHasBackwards) {
  std::string header;
  for (int i = 0; i < 40; ++i) {
    const std::string name = absl::StrCat("w", 49 - i);
    absl::StrAppend(&header, i == 0 ? "{" : ",",
                    Entry(name, "U8", "[1]", i, i + 1));
  }
  header += "}";
  const absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Parse(
      header, 8 + static_cast<int64_t>(header.size()) + 40, "file");
  ASSERT_THAT(index, IsOk());
  for (int i = 10; i < 50; ++i) {
    const std::string name = absl::StrCat("w", i);
    const absl::StatusOr<const TensorInfo*> found = index->Find(name);
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ((*found)->name, name);
  }
}

TEST(SafetensorsTest, TakesAFileWithoutTensors) {
  EXPECT_THAT(TryRead("{}", 0), IsOk());
  EXPECT_THAT(TryRead("{}     ", 0), IsOk());
}

TEST(SafetensorsTest, HidesPadding) {
  const std::string header =
      absl::StrCat("{", Entry("__padding__0", "U8", "[2]", 0, 2), ",",
                   Entry("a", "U8", "[2]", 2, 4), "}");
  absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Parse(
      header, 8 + static_cast<int64_t>(header.size()) + 4, "file");
  ASSERT_THAT(index, IsOk());
  EXPECT_THAT(index->tensors(), SizeIs(1));
  EXPECT_EQ(index->FindOrNull("__padding__0"), nullptr);
  EXPECT_EQ(index->FindOrNull("a")->name, "a");
}

struct BadHeader {
  const char* what;
  std::string header;
  int64_t data_bytes;
  const char* message;
};

std::string OneTensor(absl::string_view fields) {
  return absl::StrCat("{\"a\":{", fields, "}}");
}

// Returns headers that are not a JSON object, or that have a name twice.
std::vector<BadHeader> BadObjects() {
  const std::string good = Entry("a", "U8", "[2]", 0, 2);
  return {
      {"empty", "", 0, "does not begin with '{'"},
      {"space first", " {}", 0, "does not begin with '{'"},
      {"newline last", "{}\n", 0, "does not end with '}'"},
      {"text after the object", "{} }", 0, "not valid JSON"},
      {"not closed", absl::StrCat("{", good), 2, "not valid JSON"},
      {"comma too many", absl::StrCat("{", good, ",}"), 2, "not valid JSON"},
      {"invalid UTF-8", "{\"\xff\":1}", 0, "not valid JSON"},
      {"name twice", absl::StrCat("{", good, ",", good, "}"), 2,
       "inside \"a\""},
      {"name twice, other range",
       absl::StrCat("{", good, ",", Entry("a", "U8", "[2]", 2, 4), "}"), 4,
       "\"a\" occurs twice"},
      {"empty tensor's name twice",
       absl::StrCat("{", Entry("a", "U8", "[0]", 0, 0), ",",
                    Entry("a", "U8", "[0]", 0, 0), "}"),
       0, "\"a\" occurs twice"},
      {"padding's name twice",
       absl::StrCat("{", Entry("__padding__", "U8", "[1]", 0, 1), ",",
                    Entry("__padding__", "U8", "[1]", 1, 2), "}"),
       2, "occurs twice"},
  };
}

std::vector<BadHeader> BadRanges() {
  const std::string good = Entry("a", "U8", "[2]", 0, 2);
  return {
      {"overlap",
       absl::StrCat("{", good, ",", Entry("b", "U8", "[2]", 1, 3), "}"), 3,
       "\"b\" begins at data offset 1, inside \"a\""},
      {"gap", absl::StrCat("{", good, ",", Entry("b", "U8", "[2]", 3, 5), "}"),
       5, "\"b\" begins at data offset 3, leaving a gap after \"a\""},
      {"gap first", absl::StrCat("{", Entry("a", "U8", "[2]", 1, 3), "}"), 3,
       "leaving a gap after the header"},
      {"bytes left over", absl::StrCat("{", good, "}"), 3,
       "belong to no tensor"},
      {"truncated", absl::StrCat("{", good, "}"), 1, "truncated"},
      {"range below shape",
       absl::StrCat("{", Entry("a", "F32", "[2]", 0, 2), "}"), 2,
       "hold 2 bytes, but F32 [2] takes 8"},
      {"range above shape",
       absl::StrCat("{", Entry("a", "U8", "[1]", 0, 2), "}"), 2,
       "hold 2 bytes, but U8 [1] takes 1"},
      {"backwards", absl::StrCat("{", Entry("a", "U8", "[0]", 2, 0), "}"), 2,
       "before they begin at 2"},
      {"unknown dtype", absl::StrCat("{", Entry("a", "F31", "[2]", 0, 2), "}"),
       2, "tensor \"a\": dtype \"F31\""},
  };
}

std::vector<BadHeader> BadNumbers() {
  const std::string good = Entry("a", "U8", "[2]", 0, 2);
  return {
      {"extent of 64 bits",
       absl::StrCat("{", Entry("a", "U8", "[18446744073709551615]", 0, 2), "}"),
       2, "exceeds 63 bits"},
      {"extent beyond 64 bits",
       absl::StrCat("{", Entry("a", "U8", "[18446744073709551616]", 0, 2), "}"),
       2, "the number 18446744073709551616"},
      {"product that wraps to 0",
       absl::StrCat("{", Entry("a", "U8", "[4294967296,4294967296]", 0, 0),
                    "}"),
       0, "needs more than 2^63 - 1 bytes"},
      {"offset of 64 bits",
       absl::StrCat("{",
                    Entry("a", "U8", "[1]", 18446744073709551614u,
                          18446744073709551615u),
                    "}"),
       2, "exceeds 63 bits"},
      {"offset at the end of 63 bits",
       absl::StrCat(
           "{", good, ",",
           Entry("b", "U8", "[9223372036854775805]", 2, 9223372036854775807u),
           "}"),
       2, "truncated"},
      {"negative extent",
       absl::StrCat("{", Entry("a", "U8", "[-1]", 0, 2), "}"), 2,
       "the negative number -1"},
      {"extent with a fraction",
       absl::StrCat("{", Entry("a", "U8", "[2.0]", 0, 2), "}"), 2,
       "the number 2.0"},
      {"extent as text",
       OneTensor(R"("dtype":"U8","shape":["2"],"data_offsets":[0,2])"), 2,
       "a string which"},
      {"nested shape",
       OneTensor(R"("dtype":"U8","shape":[[2]],"data_offsets":[0,2])"), 2,
       "an array which"},
  };
}

std::vector<BadHeader> BadFields() {
  return {
      {"three offsets",
       OneTensor(R"("dtype":"U8","shape":[2],"data_offsets":[0,2,3])"), 2,
       "the number 3 which"},
      {"one offset",
       OneTensor(R"("dtype":"U8","shape":[2],"data_offsets":[0])"), 2,
       "wants two numbers"},
      {"no dtype", OneTensor(R"("shape":[2],"data_offsets":[0,2])"), 2,
       "no dtype"},
      {"no shape", OneTensor(R"("dtype":"U8","data_offsets":[0,2])"), 2,
       "no shape"},
      {"no offsets", OneTensor(R"("dtype":"U8","shape":[2])"), 2,
       "no data_offsets"},
      {"dtype twice",
       OneTensor(
           R"("dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2])"),
       2, "\"dtype\" occurs twice"},
      {"shape twice",
       OneTensor(R"("dtype":"U8","shape":[2],"shape":[],"data_offsets":[0,2])"),
       2, "\"shape\" occurs twice"},
      {"unknown key",
       OneTensor(
           R"("dtype":"U8","shape":[2],"data_offsets":[0,2],"stride":[1])"),
       2, "unknown key \"stride\""},
  };
}

std::vector<BadHeader> BadTypes() {
  return {
      {"tensor is null", R"({"a":null})", 0, "null which"},
      {"tensor is a list", R"({"a":[]})", 0, "an array which"},
      {"dtype is a boolean", OneTensor(R"("dtype":true)"), 0,
       "a boolean which"},
      {"dtype is an object", OneTensor(R"("dtype":{})"), 0, "an object which"},
      {"dtype is a number", OneTensor(R"("dtype":1)"), 0, "the number 1 which"},
      {"metadata is a number", R"({"__metadata__":{"a":1}})", 0,
       "the number 1 which"},
      {"metadata is a list", R"({"__metadata__":[]})", 0, "an array which"},
      {"metadata is nested", R"({"__metadata__":{"a":{}}})", 0,
       "an object which"},
      {"metadata twice", R"({"__metadata__":{},"__metadata__":{}})", 0,
       "__metadata__ occurs twice"},
      {"metadata's key twice", R"({"__metadata__":{"a":"1","a":"2"}})", 0,
       "has \"a\" twice"},
  };
}

TEST(SafetensorsTest, RefusesWhatBreaksTheFormat) {
  std::vector<BadHeader> headers;
  for (const auto& some :
       {BadObjects(), BadRanges(), BadNumbers(), BadFields(), BadTypes()}) {
    headers.insert(headers.end(), some.begin(), some.end());
  }
  for (const BadHeader& bad : headers) {
    const absl::Status status = TryRead(bad.header, bad.data_bytes);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument))
        << bad.what;
    EXPECT_THAT(std::string(status.message()), HasSubstr("model.safetensors: "))
        << bad.what;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message))
        << bad.what;
  }
}

TEST(SafetensorsTest, SaysWhereInTheHeader) {
  // The parser has read 32 characters, one beyond the 2.5, after the 8 bytes of
  // the length.
  const absl::Status status =
      TryRead(R"({"a":{"dtype":"U8","shape":[2.5]}})", 0);
  EXPECT_THAT(std::string(status.message()), HasSubstr("near byte 40"));
  // This is the last byte that is not a space.
  EXPECT_THAT(std::string(TryRead("{}x  ", 0).message()),
              HasSubstr("near byte 10: does not end with"));
}

absl::Status StatusOfFile(absl::string_view bytes) {
  return SafetensorsIndex::Open(WriteTestFile("bad.safetensors", bytes))
      .status();
}

TEST(SafetensorsTest, RefusesAFileShorterThanItsLength) {
  EXPECT_THAT(std::string(StatusOfFile("1234567").message()),
              HasSubstr("has 7 bytes"));
  EXPECT_THAT(std::string(StatusOfFile("").message()),
              HasSubstr("has 0 bytes"));
  EXPECT_THAT(StatusOfFile(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SafetensorsTest, RefusesAHeaderBeyondTheFileOrTheLimit) {
  EXPECT_THAT(
      std::string(
          StatusOfFile(std::string("\3\0\0\0\0\0\0\0{}", 10)).message()),
      HasSubstr("promises a header of 3 bytes, but the file ends at"));
  // These bytes are 100,000,001 in the file.
  EXPECT_THAT(
      std::string(StatusOfFile(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10))
                      .message()),
      HasSubstr("100000001 bytes, above the format's limit"));
  EXPECT_THAT(std::string(StatusOfFile(std::string(8, '\xff')).message()),
              HasSubstr("above the format's limit"));
  // This is Git LFS's pointer, which a repository contains until the file
  // itself is fetched.
  EXPECT_THAT(
      std::string(
          StatusOfFile("version https://git-lfs.github.com/spec/v1\noid ...\n")
              .message()),
      HasSubstr("run: git lfs pull"));
  EXPECT_THAT(StatusOfFile(std::string("\2\0\0\0\0\0\0\0{}", 10)), IsOk());
}

TEST(SafetensorsTest, RefusesWhatIsNoFile) {
  EXPECT_THAT(SafetensorsIndex::Open(TestPath("missing")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SafetensorsIndex::Open(TestPath("")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SafetensorsTest, NamesTheClosestTensors) {
  absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Open(kGolden);
  ASSERT_THAT(index, IsOk());
  const absl::Status typo = index->Find("embeddings.wieght").status();
  EXPECT_THAT(typo, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(typo.message()),
              HasSubstr("the closest: \"embeddings.weight\""));
  EXPECT_THAT(
      std::string(index->Find("bert.embeddings.weight").status().message()),
      HasSubstr("the closest: \"embeddings.weight\""));
  EXPECT_THAT(
      std::string(index->Find("something.else").status().message()),
      HasSubstr(
          "no tensor \"something.else\" among 6, and no name is similar"));
}

}  // namespace
}  // namespace footprint
