// Calls a function with a quantised type as a constant.
//
//   const bool is_known =
//       footprint::ForQuantisedType(type, [&](auto constant) {
//         Multiply<decltype(constant)::value>(rows, input, output);
//       });
//
// The kernels know these types and no others, so a type that base/tensor gets
// later is refused until it is added here.
//
// Pure, thread-safe. Memory: none.

#ifndef FOOTPRINT_LOWMEM_KERNELS_QUANTISED_TYPES_H_
#define FOOTPRINT_LOWMEM_KERNELS_QUANTISED_TYPES_H_

#include <type_traits>

#include "footprint/base/tensor/dtype.h"

namespace footprint {

// Returns false, and calls nothing, for a type without kernels.
template <class Use>
bool ForQuantisedType(DType type, const Use& use) {
  switch (type) {
    case DType::kQ4_0:
      use(std::integral_constant<DType, DType::kQ4_0>());
      return true;
    case DType::kQ4_1:
      use(std::integral_constant<DType, DType::kQ4_1>());
      return true;
    case DType::kQ5_0:
      use(std::integral_constant<DType, DType::kQ5_0>());
      return true;
    case DType::kQ5_1:
      use(std::integral_constant<DType, DType::kQ5_1>());
      return true;
    case DType::kQ8_0:
      use(std::integral_constant<DType, DType::kQ8_0>());
      return true;
    case DType::kQ4K:
      use(std::integral_constant<DType, DType::kQ4K>());
      return true;
    case DType::kQ5K:
      use(std::integral_constant<DType, DType::kQ5K>());
      return true;
    case DType::kQ6K:
      use(std::integral_constant<DType, DType::kQ6K>());
      return true;
    default:
      return false;
  }
}

}  // namespace footprint

// Tested by int8_product_test and quantised_product_test.

#endif  // FOOTPRINT_LOWMEM_KERNELS_QUANTISED_TYPES_H_
