// Random files with random damage: the reader accepts a file exactly if a plain
// check of every byte accepts it.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Random = std::mt19937_64;
using Json = nlohmann::json;

int64_t Below(Random& random, int64_t limit) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
}

// The fields are texts, so that a mutation can write anything there.
struct Field {
  std::string key;
  std::string value;
};

struct Header {
  std::vector<std::pair<std::string, std::vector<Field>>> tensors;
  int64_t data_bytes = 0;

  std::string Text() const {
    std::vector<std::string> entries;
    for (const auto& [name, fields] : tensors) {
      std::vector<std::string> texts;
      for (const Field& field : fields) {
        texts.push_back(absl::StrCat("\"", field.key, "\":", field.value));
      }
      entries.push_back(
          absl::StrCat("\"", name, "\":{", absl::StrJoin(texts, ","), "}"));
    }
    return absl::StrCat("{", absl::StrJoin(entries, ","), "}");
  }
};

Header RandomHeader(Random& random) {
  static constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16,
                                     DType::kU8, DType::kF64};
  Header header;
  const int64_t count = Below(random, 6);
  for (int64_t i = 0; i < count; ++i) {
    const DType dtype = kTypes[Below(random, std::size(kTypes))];
    Shape shape;
    for (int64_t rank = Below(random, 4); rank > 0; --rank) {
      shape.Append(Below(random, 4));
    }
    const int64_t bytes = *TensorBytes(dtype, shape);
    const int64_t end = header.data_bytes + bytes;
    header.tensors.push_back(
        {absl::StrCat("tensor", i),
         {{"dtype", absl::StrCat("\"", DTypeName(dtype), "\"")},
          {"shape", shape.ToString()},
          {"data_offsets",
           absl::StrCat("[", header.data_bytes, ",", end, "]")}}});
    header.data_bytes = end;
  }
  std::shuffle(header.tensors.begin(), header.tensors.end(), random);
  return header;
}

std::string RandomValue(Random& random) {
  static const char* const kValues[] = {
      "[0,0]",
      "[0,4]",
      "[4,8]",
      "[8,4]",
      "[1]",
      "[]",
      "[2,3]",
      "\"F32\"",
      "\"U8\"",
      "\"F4\"",
      "-1",
      "[-1,3]",
      "[4294967296,4294967296]",
      "{}",
      "null",
      "true",
      "\"\"",
      "[9223372036854775807,9223372036854775807]",
      "[18446744073709551615,1]",
      "[1e400]",
      "[0.0,4]",
      "[[1]]"};
  return kValues[Below(random, std::size(kValues))];
}

// Makes one change to the structure.
void Mutate(Random& random, Header& header) {
  const int64_t choice = Below(random, 7);
  if (choice == 6) header.data_bytes += Below(random, 9) - 4;
  if (header.data_bytes < 0) header.data_bytes = 0;
  if (header.tensors.empty()) return;
  auto& [name, fields] = header.tensors[Below(random, header.tensors.size())];
  if (choice == 0) name = absl::StrCat("tensor", Below(random, 6));
  if (choice == 1) header.tensors.push_back(header.tensors.front());
  if (choice == 2) header.tensors.pop_back();
  if (choice > 2 && choice < 6 && !fields.empty()) {
    const size_t position = Below(random, fields.size());
    if (choice == 3) fields[position].value = RandomValue(random);
    if (choice == 4) fields.erase(fields.begin() + position);
    if (choice == 5) fields.push_back(fields[position]);
  }
}

// Counts the tensors of each byte of the data. Returns true if each byte has
// one, and each tensor has the size that its shape says.
bool CoversEachByteOnce(const Json& header, int64_t data_bytes) {
  std::vector<int> owners(data_bytes);
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const auto dtype = DTypeFromName(tensor.at("dtype").get<std::string>());
    if (!dtype.has_value()) return false;
    const Json& offsets = tensor.at("data_offsets");
    if (offsets.size() != 2 || tensor.size() != 3) return false;
    if (!offsets.is_array() || !tensor.at("shape").is_array()) return false;
    unsigned __int128 bytes = DTypeBytes(*dtype);
    for (const Json& extent : tensor.at("shape")) {
      if (!extent.is_number_unsigned()) return false;
      bytes *= extent.get<uint64_t>();
    }
    if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) {
      return false;
    }
    const uint64_t begin = offsets[0], end = offsets[1];
    if (begin > end || end > static_cast<uint64_t>(data_bytes)) return false;
    if (bytes != end - begin) return false;
    for (uint64_t i = begin; i < end; ++i) ++owners[i];
  }
  for (const int count : owners) {
    if (count != 1) return false;
  }
  return true;
}

// Returns whether an empty tensor is in the middle of another one, which the
// reader refuses although it covers nothing.
bool HasEmptyInside(const Json& header) {
  for (const auto& [name, inner] : header.items()) {
    const Json& at = inner.at("data_offsets");
    if (at[0] != at[1]) continue;
    for (const auto& [other, outer] : header.items()) {
      const Json& range = outer.at("data_offsets");
      if (range[0] < at[0] && at[0] < range[1]) return true;
    }
  }
  return false;
}

// Returns whether a name or key occurs twice, which a DOM would not show.
bool HasDuplicate(const Header& header) {
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    const auto& [name, fields] = header.tensors[i];
    for (size_t j = 0; j < i; ++j) {
      if (header.tensors[j].first == name) return true;
    }
    for (size_t j = 0; j < fields.size(); ++j) {
      for (size_t k = 0; k < j; ++k) {
        if (fields[j].key == fields[k].key) return true;
      }
    }
  }
  return false;
}

bool ExpectedToBeAccepted(const Header& header, const std::string& text) {
  if (HasDuplicate(header)) return false;
  const Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return false;
  try {
    return CoversEachByteOnce(parsed, header.data_bytes) &&
           !HasEmptyInside(parsed);
  } catch (const Json::exception&) {
    return false;
  }
}

TEST(SafetensorsPropertyTest, AcceptsExactlyWhatCoversEachByteOnce) {
  Random random(20261121);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 10000; ++round) {
    Header header = RandomHeader(random);
    for (int64_t i = Below(random, 3); i > 0; --i) Mutate(random, header);
    const std::string text = header.Text();
    const absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Parse(
        text, 8 + static_cast<int64_t>(text.size()) + header.data_bytes,
        "file");
    ASSERT_EQ(index.ok(), ExpectedToBeAccepted(header, text))
        << text << " with " << header.data_bytes << ": " << index.status();
    index.ok() ? ++accepted : ++refused;
  }
  // The test is useful only if both cases occur.
  EXPECT_GT(accepted, 2000);
  EXPECT_GT(refused, 2000);
}

// Checks properties that every index has, whatever its file.
void CheckInvariants(const SafetensorsIndex& index) {
  int64_t end = index.data_offset_bytes();
  for (const TensorInfo& tensor : index.tensors()) {
    ASSERT_GE(tensor.offset_bytes, end);
    end = tensor.offset_bytes + tensor.size_bytes;
    ASSERT_EQ(*TensorBytes(tensor.dtype, tensor.shape), tensor.size_bytes);
    ASSERT_EQ(*index.Find(tensor.name), &tensor);
  }
  ASSERT_LE(end, index.file_bytes());
}

// Makes a file in memory, since there are thousands.
int InMemory(const std::string& bytes) {
  const int descriptor = memfd_create("property", MFD_CLOEXEC);
  EXPECT_EQ(write(descriptor, bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  return descriptor;
}

TEST(SafetensorsPropertyTest, SurvivesAnyBytes) {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    const Header header = RandomHeader(random);
    std::string bytes = SafetensorsBytes(
        header.Text(),
        std::string(static_cast<size_t>(header.data_bytes), 'x'));
    for (int64_t i = Below(random, 4); i >= 0; --i) {
      const int64_t position = Below(random, bytes.size());
      const int64_t choice = Below(random, 4);
      if (choice == 0) bytes[position] = static_cast<char>(random());
      if (choice == 1) bytes.erase(position, 1 + Below(random, 8));
      if (choice == 2)
        bytes.insert(position, 1, "{}[]\",:0 "[Below(random, 9)]);
      if (choice == 3) bytes.resize(position);
      if (bytes.empty()) bytes.push_back('\0');
    }
    const int descriptor = InMemory(bytes);
    const absl::StatusOr<SafetensorsIndex> index =
        SafetensorsIndex::Read(descriptor, "file");
    close(descriptor);
    if (index.ok()) {
      CheckInvariants(*index);
    } else {
      ASSERT_THAT(index, StatusIs(absl::StatusCode::kInvalidArgument));
    }
  }
}

}  // namespace
}  // namespace footprint
