#include "footprint/base/memory/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace footprint {

bool IsMapped(const void* data, int64_t size_bytes) {
  std::array<unsigned char, 1024> residence;  // one a page, not looked at
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = address + static_cast<uintptr_t>(size_bytes);
  uintptr_t next = address / page * page;
  while (next < end) {
    const size_t bytes =
        static_cast<size_t>(std::min(end - next, residence.size() * page));
    if (mincore(reinterpret_cast<void*>(next), bytes, residence.data()) == 0) {
      next += bytes;
    } else if (errno == ENOMEM) {
      return false;
    } else if (errno != EAGAIN) {
      break;  // the system does not say
    }
  }
  return true;
}

}  // namespace footprint
