#include "footprint/base/safetensors/safetensors_writer.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

using Random = std::mt19937_64;

TEST(SafetensorsWriterTest, WritesTheGoldenFileOfAnotherImplementation) {
  const std::string golden =
      ReadTestFile("base/safetensors/testdata/golden.safetensors");
  absl::StatusOr<SafetensorsIndex> index =
      SafetensorsIndex::Open("base/safetensors/testdata/golden.safetensors");
  ASSERT_THAT(index, IsOk());
  std::vector<TensorSpec> specs;
  for (const TensorInfo& tensor : index->tensors()) {
    specs.push_back({tensor.name, tensor.dtype, tensor.shape});
  }
  SafetensorsWriterOptions options;
  options.metadata = index->metadata();
  const std::string path = TestPath("golden");
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::Create(path, specs, options);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(writer->Append(golden.data() + index->data_offset_bytes(),
                             index->file_bytes() - index->data_offset_bytes()),
              IsOk());
  ASSERT_THAT(writer->Finish(), IsOk());
  // The files are equal, except for how JSON writes characters beyond ASCII.
  absl::StatusOr<SafetensorsIndex> written = SafetensorsIndex::Open(path);
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(written->metadata(), index->metadata());
  EXPECT_EQ(ReadTestFile(path).substr(written->data_offset_bytes()),
            golden.substr(index->data_offset_bytes()));
  ASSERT_EQ(written->tensors().size(), index->tensors().size());
  for (size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(written->tensors()[i].name, specs[i].name);
    EXPECT_EQ(written->tensors()[i].shape, specs[i].shape);
    EXPECT_EQ(written->tensors()[i].dtype, specs[i].dtype);
  }
}

std::vector<TensorSpec> RandomSpecs(Random& random) {
  static constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kU8,
                                     DType::kI64};
  std::vector<TensorSpec> specs(random() % 8);
  for (size_t i = 0; i < specs.size(); ++i) {
    specs[i].name = absl::StrCat("\"\\\n\u00e9", i);
    specs[i].dtype = kTypes[random() % 4];
    for (int rank = static_cast<int>(random() % 4); rank > 0; --rank) {
      specs[i].shape.Append(static_cast<int64_t>(random() % 12));
    }
  }
  return specs;
}

// The reader returns the tensors that were written, for any pieces and
// alignment.
TEST(SafetensorsWriterTest, WritesWhatTheReaderReads) {
  Random random(6);
  const std::string path = TestPath("round");
  for (int round = 0; round < 100; ++round) {
    const std::vector<TensorSpec> specs = RandomSpecs(random);
    SafetensorsWriterOptions options;
    options.alignment_bytes = random() % 2 == 0
                                  ? int64_t{1} << (random() % 13)
                                  : 1 + static_cast<int64_t>(random() % 8);
    if (round % 2 == 0) options.metadata["\t"] = "\x1f\"";
    std::string values;
    for (const TensorSpec& spec : specs) {
      for (int64_t i = *TensorBytes(spec.dtype, spec.shape); i > 0; --i) {
        values.push_back(static_cast<char>(random()));
      }
    }
    absl::StatusOr<SafetensorsWriter> writer =
        SafetensorsWriter::Create(path, specs, options);
    ASSERT_THAT(writer, IsOk());
    for (size_t done = 0; done < values.size();) {
      const size_t count =
          std::min<size_t>(1 + random() % 5000, values.size() - done);
      ASSERT_THAT(writer->Append(values.data() + done, count), IsOk());
      done += count;
    }
    ASSERT_THAT(writer->Finish(), IsOk());
    const std::string file = ReadTestFile(path);
    EXPECT_EQ(file.size(), writer->file_bytes());
    EXPECT_EQ(file.size() % options.alignment_bytes, 0);
    absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Open(path);
    ASSERT_THAT(index, IsOk());
    EXPECT_EQ(index->metadata(), options.metadata);
    ASSERT_EQ(index->tensors().size(), specs.size());
    size_t done = 0;
    for (const TensorSpec& spec : specs) {
      const TensorInfo& tensor = **index->Find(spec.name);
      EXPECT_EQ(tensor.offset_bytes % options.alignment_bytes, 0);
      EXPECT_EQ(tensor.dtype, spec.dtype);
      EXPECT_EQ(tensor.shape, spec.shape);
      ASSERT_EQ(file.substr(tensor.offset_bytes, tensor.size_bytes),
                values.substr(done, tensor.size_bytes));
      done += tensor.size_bytes;
    }
  }
}

absl::Status TryWrite(const std::vector<TensorSpec>& specs) {
  return SafetensorsWriter::Create(TestPath("bad"), specs).status();
}

TEST(SafetensorsWriterTest, RefusesWhatNoReaderWouldTake) {
  EXPECT_THAT(
      std::string(
          TryWrite({{"a", DType::kU8, {1}}, {"a", DType::kU8, {1}}}).message()),
      HasSubstr("two tensors are named \"a\""));
  const absl::Status not_utf8 = TryWrite({{"\xff", DType::kU8, {1}}});
  EXPECT_THAT(not_utf8, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(not_utf8.message()),
              HasSubstr("tensor \"\\xff\": its name is not UTF-8"));
  EXPECT_THAT(TryWrite({{"__padding__9", DType::kU8, {1}}}), Not(IsOk()));
  EXPECT_THAT(TryWrite({{"a", DType::kU8, {-1}}}), Not(IsOk()));
  EXPECT_THAT(TryWrite({{"a", DType::kU8, {int64_t{1} << 62}},
                        {"b", DType::kU8, {int64_t{1} << 62}}}),
              Not(IsOk()));
  SafetensorsWriterOptions options;
  options.alignment_bytes = 0;
  EXPECT_THAT(SafetensorsWriter::Create(TestPath("bad"), {}, options),
              Not(IsOk()));
  // There are two bytes of padding, and room for one.
  options.alignment_bytes = 5;
  const absl::Status padded =
      SafetensorsWriter::Create(TestPath("bad"),
                                {{"a", DType::kU8, {(int64_t{1} << 62) - 1}}},
                                options)
          .status();
  EXPECT_THAT(padded, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(padded.message()),
              HasSubstr("bad: the tensors exceed 2^62 bytes"));
}

TEST(SafetensorsWriterTest, AlignsToAMebibyteAtMost) {
  SafetensorsWriterOptions options;
  options.alignment_bytes = 1 << 20;
  EXPECT_THAT(SafetensorsWriter::Create(TestPath("aligned"), {}, options),
              IsOk());
  options.alignment_bytes = (1 << 20) + 1;
  EXPECT_THAT(SafetensorsWriter::Create(TestPath("aligned"), {}, options),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SafetensorsWriterTest, RefusesTooFewAndTooManyValues) {
  const std::string path = WriteTestFile("count", "old");
  {
    absl::StatusOr<SafetensorsWriter> writer =
        SafetensorsWriter::Create(path, {{"a", DType::kF32, {2}}});
    ASSERT_THAT(writer, IsOk());
    const char values[12] = {};
    ASSERT_THAT(writer->Append(values, 7), IsOk());
    EXPECT_THAT(std::string(writer->Finish().message()),
                HasSubstr("\"a\" has 7 of its 8 bytes"));
    EXPECT_THAT(std::string(writer->Append(values, 3).message()),
                HasSubstr("2 bytes more than"));
  }
  EXPECT_EQ(ReadTestFile(path), "old");
}

}  // namespace
}  // namespace footprint
