#include "footprint/base/tensor/dtype.h"

#include <cstddef>

namespace footprint {
namespace {

struct DTypeEntry {
  DType dtype;
  absl::string_view name;
  int64_t bytes;
};

// In the order of the enumeration.
constexpr DTypeEntry kDTypes[] = {
    {DType::kF64, "F64", 8},        {DType::kF32, "F32", 4},
    {DType::kF16, "F16", 2},        {DType::kBF16, "BF16", 2},
    {DType::kF8E5M2, "F8_E5M2", 1}, {DType::kF8E4M3, "F8_E4M3", 1},
    {DType::kF8E8M0, "F8_E8M0", 1}, {DType::kC64, "C64", 8},
    {DType::kI64, "I64", 8},        {DType::kI32, "I32", 4},
    {DType::kI16, "I16", 2},        {DType::kI8, "I8", 1},
    {DType::kU64, "U64", 8},        {DType::kU32, "U32", 4},
    {DType::kU16, "U16", 2},        {DType::kU8, "U8", 1},
    {DType::kBool, "BOOL", 1},
};

const DTypeEntry& Entry(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)];
}

}  // namespace

absl::string_view DTypeName(DType dtype) { return Entry(dtype).name; }

absl::optional<DType> DTypeFromName(absl::string_view name) {
  for (const DTypeEntry& entry : kDTypes) {
    if (entry.name == name) return entry.dtype;
  }
  return absl::nullopt;
}

int64_t DTypeBytes(DType dtype) { return Entry(dtype).bytes; }

}  // namespace footprint
