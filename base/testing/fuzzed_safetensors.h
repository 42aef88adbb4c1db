// Makes a safetensors file with any header and with the length that fits it, so
// that a fuzzer that changes the header's length still has a file whose header
// is read.
//
//   const std::string file = footprint::FuzzedSafetensors(bytes);
//
// The header is padded with blanks, so that the data begins at a multiple of 8
// bytes. The last of the bytes is not part of the header: it is the number of
// bytes of data that follow, which are zeros. Pure; thread-safe. Memory: the
// result.

#ifndef FOOTPRINT_BASE_TESTING_FUZZED_SAFETENSORS_H_
#define FOOTPRINT_BASE_TESTING_FUZZED_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

inline std::string FuzzedSafetensors(absl::string_view bytes) {
  if (bytes.empty()) return "";
  std::string header(bytes.substr(0, bytes.size() - 1));
  while (header.size() % 8 != 0) header += ' ';
  std::string file;
  uint64_t length = header.size();
  for (size_t i = 0; i < sizeof(length); ++i, length >>= 8) {
    file += static_cast<char>(length & 0xFF);
  }
  file += header;
  file.append(static_cast<unsigned char>(bytes.back()), '\0');
  return file;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TESTING_FUZZED_SAFETENSORS_H_
