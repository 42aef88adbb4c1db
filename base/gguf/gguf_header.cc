#include "footprint/base/gguf/gguf_header.h"

#include <cstddef>

namespace footprint {
namespace {

// Every machine that this runs on is little-endian, like the format.
template <class T>
void Put(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void PutText(absl::string_view text, std::string* bytes) {
  Put(uint64_t{text.size()}, bytes);
  bytes->append(text.data(), text.size());
}

uint32_t TypeNumber(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0;
    case DType::kF16:
      return 1;
    case DType::kQ4_0:
      return 2;
    case DType::kQ4_1:
      return 3;
    case DType::kQ5_0:
      return 6;
    case DType::kQ5_1:
      return 7;
    case DType::kQ8_0:
      return 8;
    case DType::kQ4K:
      return 12;
    case DType::kQ5K:
      return 13;
    case DType::kQ6K:
      return 14;
    case DType::kI8:
      return 24;
    case DType::kI16:
      return 25;
    case DType::kI32:
      return 26;
    case DType::kI64:
      return 27;
    case DType::kF64:
      return 28;
    case DType::kBF16:
      return 30;
    default:
      return 0xffffffff;  // GgufIndex refuses it
  }
}

}  // namespace

void GgufHeader::BeginKey(absl::string_view key, GgufType type) {
  PutText(key, &keys_);
  Put(static_cast<uint32_t>(type), &keys_);
  ++key_count_;
}

void GgufHeader::BeginList(absl::string_view key, GgufType type, size_t count) {
  BeginKey(key, GgufType::kArray);
  Put(static_cast<uint32_t>(type), &keys_);
  Put(uint64_t{count}, &keys_);
}

void GgufHeader::AddText(absl::string_view key, absl::string_view text) {
  BeginKey(key, GgufType::kString);
  PutText(text, &keys_);
}

void GgufHeader::AddInteger(absl::string_view key, uint32_t value) {
  BeginKey(key, GgufType::kU32);
  Put(value, &keys_);
}

void GgufHeader::AddNumber(absl::string_view key, float value) {
  BeginKey(key, GgufType::kF32);
  Put(value, &keys_);
}

void GgufHeader::AddFlag(absl::string_view key, bool value) {
  BeginKey(key, GgufType::kBool);
  Put(static_cast<uint8_t>(value ? 1 : 0), &keys_);
}

void GgufHeader::AddTexts(absl::string_view key,
                          absl::Span<const std::string> texts) {
  BeginList(key, GgufType::kString, texts.size());
  for (const std::string& text : texts) PutText(text, &keys_);
}

void GgufHeader::AddIntegers(absl::string_view key,
                             absl::Span<const int32_t> values) {
  BeginList(key, GgufType::kI32, values.size());
  for (const int32_t value : values) Put(value, &keys_);
}

void GgufHeader::AddNumbers(absl::string_view key,
                            absl::Span<const float> values) {
  BeginList(key, GgufType::kF32, values.size());
  for (const float value : values) Put(value, &keys_);
}

int64_t GgufHeader::AddTensor(absl::string_view name, DType dtype,
                              const Shape& shape) {
  PutText(name, &tensors_);
  Put(static_cast<uint32_t>(shape.rank()), &tensors_);
  for (int axis = shape.rank(); axis > 0; --axis) {
    Put(static_cast<uint64_t>(shape.extent(axis - 1)), &tensors_);
  }
  Put(TypeNumber(dtype), &tensors_);
  Put(static_cast<uint64_t>(data_bytes_), &tensors_);
  ++tensor_count_;
  const int64_t begin = data_bytes_;
  const int64_t bytes = BytesOfElements(dtype, shape.elements());
  data_bytes_ +=
      (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  return begin;
}

std::string GgufHeader::Build() const {
  std::string header = "GGUF";
  Put(uint32_t{3}, &header);
  Put(tensor_count_, &header);
  Put(key_count_, &header);
  header += keys_;
  header += tensors_;
  header.resize((header.size() + kAlignmentBytes - 1) / kAlignmentBytes *
                kAlignmentBytes);
  return header;
}

}  // namespace footprint
