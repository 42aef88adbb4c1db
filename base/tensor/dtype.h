// The types in which the elements of tensors are stored.
//
//   footprint::DTypeBytes(footprint::DType::kBF16);  // 2
//   footprint::DTypeFromName("F32");                 // DType::kF32
//   footprint::BlockOf(footprint::DType::kQ8_0);     // 32 elements, 34 bytes
//
// Quantised types store a block of elements together: a scale and small
// integers. So a single element of such a type has no bytes of its own.
//
// A kernel or layer does the arithmetic, and says so if it supports only some
// types.
//
// Pure and thread-safe; allocates nothing: a name is a constant of the program.

#ifndef FOOTPRINT_BASE_TENSOR_DTYPE_H_
#define FOOTPRINT_BASE_TENSOR_DTYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

// The element types of the safetensors format that take whole bytes. A name has
// letters for the kind (float, brain float, complex, signed, unsigned) and the
// bits of an element.
enum class DType : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kC64,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
  // Quantised types of the GGUF format, with its names; others are refused.
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ4K,
  kQ5K,
  kQ6K,
};

// The number of elements that are stored together, and their bytes. A block is
// one element unless the type is quantised.
struct DTypeBlock {
  int64_t elements = 1;
  int64_t bytes = 0;
};

// Returns the name in files: "F32".
absl::string_view DTypeName(DType dtype);

// Returns the type of the safetensors format with this name. Returns nullopt
// for "f32", and for a quantised type, which that format does not have.
absl::optional<DType> DTypeFromName(absl::string_view name);

// Returns whether the type stores several elements in a block.
bool IsQuantised(DType dtype);

// Returns the bytes of one element; 0 for a quantised type.
int64_t DTypeBytes(DType dtype);

// Returns the block of a type.
DTypeBlock BlockOf(DType dtype);

// Returns the bytes of so many elements, which must be whole blocks.
int64_t BytesOfElements(DType dtype, int64_t elements);

// Returns the number of elements in these bytes, which must be whole blocks.
int64_t ElementsOfBytes(DType dtype, int64_t bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TENSOR_DTYPE_H_
