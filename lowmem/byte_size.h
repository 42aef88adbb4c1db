// Numbers of bytes as people write them.
//
//   footprint::ParseByteSize("16MiB");   // 16777216
//   footprint::ByteSizeText(16 << 20);   // "16.00 MiB"
//
// InvalidArgument: not a number with B, KiB, MiB, GiB, kB, MB, GB or nothing
// behind it, below zero, or above 2^62.

#ifndef FOOTPRINT_LOWMEM_BYTE_SIZE_H_
#define FOOTPRINT_LOWMEM_BYTE_SIZE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

absl::StatusOr<int64_t> ParseByteSize(absl::string_view text);

std::string ByteSizeText(int64_t bytes);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_BYTE_SIZE_H_
