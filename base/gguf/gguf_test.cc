#include "footprint/base/gguf/gguf.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/gguf/gguf_header.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

absl::StatusOr<GgufIndex> Open(const std::string& bytes) {
  return GgufIndex::Open(WriteTestFile("file.gguf", bytes));
}

// Returns a header with one of everything, and zeros for its tensors.
std::string SmallFile() {
  GgufHeader header;
  header.AddText("general.architecture", "llama");
  header.AddInteger("llama.block_count", 2);
  header.AddTexts("tokenizer.ggml.tokens", {"a", "bc"});
  header.AddTensor("words", DType::kQ8_0, {3, 64});
  header.AddTensor("norm", DType::kF32, {5});
  return header.Build() +
         std::string(static_cast<size_t>(header.data_bytes()), '\0');
}

template <class T>
std::string Bytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string LongText(absl::string_view text) {
  return absl::StrCat(Bytes(uint64_t{text.size()}), text);
}

// Returns the beginning of a file in the format, with these counts.
std::string Begin(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
  return absl::StrCat("GGUF", Bytes(version), Bytes(tensors), Bytes(keys));
}

TEST(GgufTest, ReadsAFileOfTheFormatsOwnLibrary) {
  const absl::StatusOr<GgufIndex> index =
      GgufIndex::Open("base/gguf/testdata/golden.gguf");
  ASSERT_THAT(index, IsOk());
  EXPECT_THAT(index->Text("general.architecture"), IsOkAndHolds("llama"));
  EXPECT_THAT(index->Integer("llama.block_count"), IsOkAndHolds(2));
  EXPECT_THAT(index->Number("llama.rope.freq_base"), IsOkAndHolds(10000.0));
  EXPECT_THAT(index->Flag("tokenizer.ggml.add_bos_token"), IsOkAndHolds(true));
  EXPECT_THAT(index->Integer("small.u8"), IsOkAndHolds(255));
  EXPECT_THAT(index->Integer("small.i8"), IsOkAndHolds(-128));
  EXPECT_THAT(index->Integer("small.u16"), IsOkAndHolds(65535));
  EXPECT_THAT(index->Integer("small.i16"), IsOkAndHolds(-32768));
  EXPECT_THAT(index->Integer("small.i32"),
              IsOkAndHolds(std::numeric_limits<int32_t>::min()));
  EXPECT_THAT(index->Integer("large.u64"), IsOkAndHolds(int64_t{1} << 40));
  EXPECT_THAT(index->Integer("large.i64"), IsOkAndHolds(-(int64_t{1} << 40)));
  EXPECT_THAT(index->Number("large.f64"), IsOkAndHolds(0.1));
  ASSERT_EQ(index->tensors().size(), 3u);
  const absl::StatusOr<const TensorInfo*> floats = index->Find("floats");
  ASSERT_THAT(floats, IsOk());
  EXPECT_EQ((*floats)->dtype, DType::kF32);
  EXPECT_EQ((*floats)->shape, Shape({3, 64}));
  const std::string bytes = ReadTestFile("base/gguf/testdata/golden.gguf");
  for (int i = 0; i < 3 * 64; ++i) {
    float value = -1;
    std::memcpy(&value, &bytes[(*floats)->offset_bytes + i * 4], 4);
    ASSERT_EQ(value, static_cast<float>(i));
  }
  const absl::StatusOr<const TensorInfo*> blocks = index->Find("blocks");
  ASSERT_THAT(blocks, IsOk());
  EXPECT_EQ((*blocks)->dtype, DType::kQ8_0);
  EXPECT_EQ((*blocks)->shape, Shape({3, 64}));
  EXPECT_EQ((*blocks)->size_bytes, 6 * 34);
  const absl::StatusOr<const TensorInfo*> halves = index->Find("halves");
  ASSERT_THAT(halves, IsOk());
  EXPECT_EQ((*halves)->shape, Shape({3, 5}));
}

TEST(GgufTest, SaysWhereAListsElementsLie) {
  const std::string path = "base/gguf/testdata/golden.gguf";
  const std::string bytes = ReadTestFile(path);
  const absl::StatusOr<GgufIndex> index = GgufIndex::Open(path);
  ASSERT_THAT(index, IsOk());
  const auto words = index->List("tokenizer.ggml.tokens", GgufType::kString);
  ASSERT_THAT(words, IsOk());
  EXPECT_EQ((*words)->count, 4);
  EXPECT_EQ(bytes.substr((*words)->offset_bytes, (*words)->size_bytes),
            absl::StrCat(LongText("a"), LongText("bc"), LongText(""),
                         LongText("d\xc3\xa9")));
  const auto scores = index->List("tokenizer.ggml.scores", GgufType::kF32);
  ASSERT_THAT(scores, IsOk());
  EXPECT_EQ(bytes.substr((*scores)->offset_bytes, (*scores)->size_bytes),
            absl::StrCat(Bytes(0.5f), Bytes(-1.0f), Bytes(0.0f), Bytes(2.0f)));
}

TEST(GgufTest, ReadsWhatItWrites) {
  const absl::StatusOr<GgufIndex> index = Open(SmallFile());
  ASSERT_THAT(index, IsOk());
  EXPECT_THAT(index->Text("general.architecture"), IsOkAndHolds("llama"));
  EXPECT_THAT(index->Integer("llama.block_count"), IsOkAndHolds(2));
  const TensorInfo* const words = index->FindOrNull("words");
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(words->offset_bytes % GgufHeader::kAlignmentBytes, 0);
  const TensorInfo* const norm = index->FindOrNull("norm");
  ASSERT_NE(norm, nullptr);
  // The words have 204 bytes, padded to 224.
  EXPECT_EQ(norm->offset_bytes, words->offset_bytes + 224);
  EXPECT_EQ(norm->size_bytes, 20);
}

TEST(GgufTest, SaysWhatAKeyIsNot) {
  const absl::StatusOr<GgufIndex> index = Open(SmallFile());
  ASSERT_THAT(index, IsOk());
  EXPECT_FALSE(index->Has("missing"));
  EXPECT_THAT(index->Integer("missing"), StatusIs(absl::StatusCode::kNotFound));
  const absl::Status text = index->Text("llama.block_count").status();
  EXPECT_THAT(text, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(text.message()),
              HasSubstr("\"llama.block_count\" is a value of type u32, not a "
                        "text"));
  const absl::Status list =
      index->List("tokenizer.ggml.tokens", GgufType::kF32).status();
  EXPECT_THAT(std::string(list.message()),
              HasSubstr("is a list of string, not of f32"));
  EXPECT_THAT(index->Find("word"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(GgufTest, RefusesEveryTruncatedFile) {
  const std::string whole = SmallFile();
  // The zeros after the last tensor are not part of it.
  const size_t last_value = whole.size() - 12;
  for (size_t size = 0; size < last_value; ++size) {
    const absl::StatusOr<GgufIndex> index = Open(whole.substr(0, size));
    ASSERT_THAT(index, StatusIs(absl::StatusCode::kInvalidArgument)) << size;
    ASSERT_THAT(std::string(index.status().message()), HasSubstr("file.gguf"));
  }
  EXPECT_THAT(Open(whole.substr(0, last_value)), IsOk());
}

struct Fault {
  const char* name;
  std::string bytes;
  const char* text;
};

std::string TensorEntry(absl::string_view name, uint64_t columns, uint32_t type,
                        uint64_t offset) {
  return absl::StrCat(LongText(name), Bytes(uint32_t{1}), Bytes(columns),
                      Bytes(type), Bytes(offset));
}

std::vector<Fault> Faults() {
  const std::string list = Bytes(uint32_t{9});
  const std::string key = LongText("k");
  const std::string data(4096, '\0');
  const std::string alignment = LongText("general.alignment");
  return {
      {"magic", "GGML" + data, "is not a GGUF file"},
      {"many tensors", Begin(uint64_t{1} << 60, 0) + data,
       "tensors do not fit"},
      {"all tensors", Begin(~uint64_t{0}, 0) + data, "tensors do not fit"},
      {"many keys", Begin(0, uint64_t{1} << 60) + data, "keys do not fit"},
      {"long key", Begin(0, 1) + Bytes(~uint64_t{0}) + data,
       "bytes of text do not fit"},
      {"type", Begin(0, 1) + key + Bytes(uint32_t{13}) + data,
       "key \"k\": its value has the unknown type 13"},
      {"truth", Begin(0, 1) + key + Bytes(uint32_t{7}) + "\x02" + data,
       "the truth value is 2, not 0 or 1"},
      {"key twice",
       Begin(0, 2) + key + Bytes(uint32_t{0}) + "x" + key + Bytes(uint32_t{0}) +
           "x" + data,
       "key \"k\": it occurs twice"},
      {"long list",
       Begin(0, 1) + key + list + Bytes(uint32_t{4}) +
           Bytes(uint64_t{1} << 62) + data,
       "elements of a list do not fit"},
      {"long list of texts",
       Begin(0, 1) + key + list + Bytes(uint32_t{8}) + Bytes(uint64_t{3}) +
           Bytes(uint64_t{9999}) + data,
       "bytes of text do not fit"},
      {"alignment 0",
       Begin(0, 1) + alignment + Bytes(uint32_t{4}) + Bytes(uint32_t{0}) + data,
       "general.alignment is 0"},
      {"alignment 3",
       Begin(0, 1) + alignment + Bytes(uint32_t{4}) + Bytes(uint32_t{3}) + data,
       "general.alignment is 3"},
      {"alignment as text",
       Begin(0, 1) + alignment + Bytes(uint32_t{8}) + LongText("32") + data,
       "general.alignment"},
      {"no columns", Begin(1, 0) + TensorEntry("t", 0, 0, 0) + data,
       "a dimension is 0"},
      {"huge",
       Begin(1, 0) + LongText("t") + Bytes(uint32_t{2}) +
           Bytes(uint64_t{1} << 40) + Bytes(uint64_t{1} << 40) +
           Bytes(uint32_t{0}) + Bytes(uint64_t{0}) + data,
       "needs more than 2^63 - 1 bytes"},
      {"part of a block", Begin(1, 0) + TensorEntry("t", 48, 8, 0) + data,
       "not whole blocks of 32"},
      {"offset", Begin(1, 0) + TensorEntry("t", 4, 0, 8) + data,
       "no multiple of the alignment, 32"},
      {"offset beyond", Begin(1, 0) + TensorEntry("t", 4, 0, 1 << 20) + data,
       "outside of the file"},
      {"offset of 64 bits",
       Begin(1, 0) + TensorEntry("t", 4, 0, ~uint64_t{31}) + data,
       "outside of the file"},
      {"end beyond", Begin(1, 0) + TensorEntry("t", 4096, 0, 0) + data,
       "end beyond the file's"},
      {"overlap",
       Begin(2, 0) + TensorEntry("t", 16, 0, 0) + TensorEntry("u", 4, 0, 32) +
           data,
       "tensor \"u\": it begins at byte"},
      {"name twice",
       Begin(2, 0) + TensorEntry("t", 8, 0, 0) + TensorEntry("t", 8, 0, 32) +
           data,
       "the tensor \"t\" occurs twice"},
  };
}

TEST(GgufTest, SaysWhatBreaksTheFormat) {
  for (const Fault& fault : Faults()) {
    const absl::StatusOr<GgufIndex> index = Open(fault.bytes);
    EXPECT_THAT(index, StatusIs(absl::StatusCode::kInvalidArgument))
        << fault.name;
    EXPECT_THAT(std::string(index.status().message()), HasSubstr(fault.text))
        << fault.name;
  }
}

// The file is not damaged, so another download would not help.
TEST(GgufTest, SaysHowAFileBeyondItsLimitsCanBeRead) {
  const std::string data(4096, '\0');
  const std::string list = Bytes(uint32_t{9});
  std::string nested;
  for (int i = 0; i < 6; ++i)
    absl::StrAppend(&nested, list, Bytes(uint64_t{1}));
  for (const Fault& fault :
       {Fault{"type", Begin(1, 0) + TensorEntry("t", 1, 1000, 0) + data,
              "tensor \"t\": it has the type 1000, which this program does not "
              "know; update Footprint, or take the file in Q8_0"},
        Fault{"long text",
              Begin(0, 1) + LongText("k") + Bytes(uint32_t{8}) +
                  Bytes(uint64_t{2 << 20}) + std::string(3 << 20, 'x'),
              "above the limit of 1048576; convert the file, or update"},
        Fault{"deep lists", Begin(0, 1) + LongText("k") + list + nested + data,
              "nested more than 4 deep; convert the file, or update"},
        Fault{"dimensions",
              Begin(1, 0) + LongText("t") + Bytes(uint32_t{5}) + data,
              "it has 5 dimensions, more than 4; convert the file, or update"},
        Fault{"many tensors",
              Begin((1 << 19) + 1, 0) + std::string(((1 << 19) + 1) * 24, 'x'),
              "are above the limits of 524288 and 65536; convert the file"}}) {
    const absl::Status status = Open(fault.bytes).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument))
        << fault.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(fault.text));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("damaged")));
  }
}

TEST(GgufTest, RefusesWhatItDoesNotReadByName) {
  const std::string data(4096, '\0');
  for (const Fault& other :
       {Fault{"version 1", Begin(0, 0, 1) + data, "the format has version 1"},
        Fault{"version 4", Begin(0, 0, 4) + data, "the format has version 4"},
        Fault{"big-endian", Begin(0, 0, 0x03000000) + data, "big-endian"},
        Fault{"Q4_0_4_4", Begin(1, 0) + TensorEntry("t", 32, 31, 0) + data,
              "tensor \"t\": it is of type Q4_0_4_4, which is not read"},
        Fault{"Q1_0", Begin(1, 0) + TensorEntry("t", 128, 41, 0) + data,
              "tensor \"t\": it is of type Q1_0, which is not read"},
        Fault{"IQ4_XS", Begin(1, 0) + TensorEntry("t", 256, 23, 0) + data,
              "tensor \"t\": it is of type IQ4_XS, which is not read"}}) {
    const absl::StatusOr<GgufIndex> index = Open(other.bytes);
    EXPECT_THAT(index, StatusIs(absl::StatusCode::kUnimplemented))
        << other.name;
    EXPECT_THAT(std::string(index.status().message()), HasSubstr(other.text))
        << other.name;
  }
}

TEST(GgufTest, AFileThatCannotBeReadIsOfNoOtherFormat) {
  const std::string path = testing::TempDir() + "/unreadable.gguf";
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(write(descriptor, "GGUFGGUF", 8), 8);
  const absl::Status status = GgufIndex::Read(descriptor, path).status();
  close(descriptor);
  EXPECT_FALSE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(status, Not(IsOk()));
}

TEST(GgufTest, KeepsAnAlignmentOfItsOwn) {
  const std::string bytes = absl::StrCat(
      Begin(1, 1), LongText("general.alignment"), Bytes(uint32_t{4}),
      Bytes(uint32_t{256}), TensorEntry("t", 4, 0, 0), std::string(512, '\0'));
  const absl::StatusOr<GgufIndex> index = Open(bytes);
  ASSERT_THAT(index, IsOk());
  EXPECT_EQ(index->tensors()[0].offset_bytes, 256);
}

// The text and the list are longer than the buffer.
TEST(GgufTest, ReadsWhatIsLongerThanItsBuffer) {
  GgufHeader header;
  const std::string text(200000, 't');
  header.AddText("long", text);
  std::vector<std::string> words;
  for (int i = 0; i < 30000; ++i) words.push_back(absl::StrCat("word", i));
  header.AddTexts("words", words);
  header.AddFlag("after", true);
  const absl::StatusOr<GgufIndex> index = Open(header.Build());
  ASSERT_THAT(index, IsOk());
  EXPECT_THAT(index->Text("long"), IsOkAndHolds(text));
  EXPECT_THAT(index->Flag("after"), IsOkAndHolds(true));
  EXPECT_EQ((*index->List("words", GgufType::kString))->count, 30000);
}

}  // namespace
}  // namespace footprint
