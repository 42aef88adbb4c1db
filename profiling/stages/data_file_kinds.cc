#include "footprint/profiling/stages/data_file_kinds.h"

#include <stddef.h>

namespace footprint::profiling_internal {
namespace {

char Small(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32)
                                        : letter;
}

bool IsKind(const char* begin, const char* end, const char* kind) {
  for (; begin != end; ++begin, ++kind) {
    if (*kind == '\0' || Small(*begin) != *kind) return false;
  }
  return *kind == '\0';
}

template <size_t count>
bool IsAnyKind(const char* begin, const char* end,
               const char (&kinds)[count][12]) {
  for (const char* kind : kinds) {
    if (IsKind(begin, end, kind)) return true;
  }
  return false;
}

// Returns what follows the last dot of the file's name before `end`. Returns
// null if there is no dot or nothing stands before it. A folder's dot yields a
// text with a slash, which is no kind.
const char* FindKind(const char* path, const char* end) {
  for (const char* at = end; at-- > path;) {
    if (*at == '.') return at == path || at[-1] == '/' ? nullptr : at + 1;
  }
  return nullptr;
}

}  // namespace

bool IsDataFile(const char* path) {
  const char* end = path;
  while (*end != '\0') ++end;
  const char* kind = FindKind(path, end);
  if (kind == nullptr) return false;
  if (IsAnyKind(kind, end, kCompressedKinds)) {
    end = kind - 1;
    kind = FindKind(path, end);
    if (kind == nullptr) return false;
  }
  return IsAnyKind(kind, end, kDataFileKinds);
}

}  // namespace footprint::profiling_internal
