#include "footprint/base/tensor/dtype.h"

#include <cstddef>

namespace footprint {
namespace {

struct DTypeEntry {
  DType dtype;
  absl::string_view name;
  int64_t bytes;
  int64_t block_elements = 1;
};

// The entries have the order of the enumeration.
constexpr DTypeEntry kDTypes[] = {
    {DType::kF64, "F64", 8},         {DType::kF32, "F32", 4},
    {DType::kF16, "F16", 2},         {DType::kBF16, "BF16", 2},
    {DType::kF8E5M2, "F8_E5M2", 1},  {DType::kF8E4M3, "F8_E4M3", 1},
    {DType::kF8E8M0, "F8_E8M0", 1},  {DType::kC64, "C64", 8},
    {DType::kI64, "I64", 8},         {DType::kI32, "I32", 4},
    {DType::kI16, "I16", 2},         {DType::kI8, "I8", 1},
    {DType::kU64, "U64", 8},         {DType::kU32, "U32", 4},
    {DType::kU16, "U16", 2},         {DType::kU8, "U8", 1},
    {DType::kBool, "BOOL", 1},       {DType::kQ4_0, "Q4_0", 18, 32},
    {DType::kQ4_1, "Q4_1", 20, 32},  {DType::kQ5_0, "Q5_0", 22, 32},
    {DType::kQ5_1, "Q5_1", 24, 32},  {DType::kQ8_0, "Q8_0", 34, 32},
    {DType::kQ4K, "Q4_K", 144, 256}, {DType::kQ5K, "Q5_K", 176, 256},
    {DType::kQ6K, "Q6_K", 210, 256},
};

const DTypeEntry& Entry(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)];
}

}  // namespace

absl::string_view DTypeName(DType dtype) { return Entry(dtype).name; }

absl::optional<DType> DTypeFromName(absl::string_view name) {
  for (const DTypeEntry& entry : kDTypes) {
    if (entry.name == name && !IsQuantised(entry.dtype)) return entry.dtype;
  }
  return absl::nullopt;
}

bool IsQuantised(DType dtype) { return Entry(dtype).block_elements > 1; }

int64_t DTypeBytes(DType dtype) {
  return IsQuantised(dtype) ? 0 : Entry(dtype).bytes;
}

DTypeBlock BlockOf(DType dtype) {
  return {Entry(dtype).block_elements, Entry(dtype).bytes};
}

int64_t BytesOfElements(DType dtype, int64_t elements) {
  const DTypeEntry& entry = Entry(dtype);
  return elements / entry.block_elements * entry.bytes;
}

int64_t ElementsOfBytes(DType dtype, int64_t bytes) {
  const DTypeEntry& entry = Entry(dtype);
  return bytes / entry.bytes * entry.block_elements;
}

}  // namespace footprint
