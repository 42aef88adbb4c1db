#include "footprint/base/files/read_at.h"

#include <errno.h>
#include <unistd.h>

#include <cstddef>

namespace footprint::lowmem_internal {

int64_t ReadAt(int descriptor, int64_t offset_bytes, int64_t size_bytes,
               void* destination) {
  char* const begin = static_cast<char*>(destination);
  int64_t got = 0;
  while (got < size_bytes) {
    const ssize_t count =
        pread(descriptor, begin + got, static_cast<size_t>(size_bytes - got),
              offset_bytes + got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    got += count;
  }
  return got;
}

}  // namespace footprint::lowmem_internal
