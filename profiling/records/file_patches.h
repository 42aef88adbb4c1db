// Bytes that a fuzzer writes into an agent's file. The file is sparse and far
// larger than an input may be, so an input is a list of patches. A patch names
// one of the file's parts, an offset in it and the bytes to write there.
//
//   const std::vector<FilePatch> patches = ParsePatches(input);
//   ApplyPatches(patches, /*first_part=*/0, {0, offsetof(SiteFile, sites)},
//                file);
//
// Each patch in an input has one byte for the part, two for the offset (low
// byte first), one for the count, and that many bytes. A patch that is cut
// short at the end counts with the bytes it has, and is ignored if it has none.
// tools/fuzz/make_corpora.py writes such inputs.
//
// Patches refer to the input. Thread-safe. Memory: 24 bytes a patch.

#ifndef FOOTPRINT_PROFILING_RECORDS_FILE_PATCHES_H_
#define FOOTPRINT_PROFILING_RECORDS_FILE_PATCHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/base/testing/memory_file.h"

namespace footprint {

struct FilePatch {
  int part = 0;
  int offset_bytes = 0;
  absl::string_view bytes;
};

// Splits an input into its patches.
inline std::vector<FilePatch> ParsePatches(absl::string_view input) {
  constexpr size_t kHeadBytes = 4;
  const auto byte_at = [&input](size_t i) {
    return static_cast<int>(static_cast<unsigned char>(input[i]));
  };
  std::vector<FilePatch> patches;
  while (input.size() > kHeadBytes) {
    FilePatch patch;
    patch.part = byte_at(0);
    patch.offset_bytes = byte_at(1) | byte_at(2) << 8;
    patch.bytes = input.substr(kHeadBytes, static_cast<size_t>(byte_at(3)));
    input.remove_prefix(kHeadBytes + patch.bytes.size());
    patches.push_back(patch);
  }
  return patches;
}

// Writes the patches of the parts from `first_part` on, which begin at
// `offsets` of the file. Skips the others.
inline void ApplyPatches(const std::vector<FilePatch>& patches, int first_part,
                         const std::vector<size_t>& offsets,
                         const MemoryFile& file) {
  for (const FilePatch& patch : patches) {
    const int part = patch.part - first_part;
    if (part < 0 || part >= static_cast<int>(offsets.size())) continue;
    file.Write(static_cast<int64_t>(offsets[static_cast<size_t>(part)]) +
                   patch.offset_bytes,
               patch.bytes);
  }
}

// Makes a file of zeros of that size that begins with `magic`.
inline void BeginFile(uint64_t magic, size_t size_bytes,
                      const MemoryFile& file) {
  file.Resize(static_cast<int64_t>(size_bytes));
  file.Write(0, absl::string_view(reinterpret_cast<const char*>(&magic),
                                  sizeof(magic)));
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_FILE_PATCHES_H_
