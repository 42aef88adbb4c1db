// The element types that tensors are stored as.
//
//   footprint::DTypeBytes(footprint::DType::kBF16);  // 2
//   footprint::DTypeFromName("F32");                 // DType::kF32
//
// Arithmetic is for those who compute: a kernel or layer that knows some of
// them only says so.
//
// Pure, thread-safe, allocates nothing: a name is a constant of the program.

#ifndef FOOTPRINT_BASE_TENSOR_DTYPE_H_
#define FOOTPRINT_BASE_TENSOR_DTYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

// The element types of the safetensors format. A letter for the kind (float,
// brain float, complex, signed, unsigned) and the bits of an element.
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
};

// Returns the name as files spell it: "F32".
absl::string_view DTypeName(DType dtype);

// Nothing for a name that is none of them; "f32" is none.
absl::optional<DType> DTypeFromName(absl::string_view name);

// The bytes of one element.
int64_t DTypeBytes(DType dtype);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TENSOR_DTYPE_H_
