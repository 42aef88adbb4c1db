#include "footprint/base/memory/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace footprint {
namespace {

struct Pages {
  int64_t present = 0;
  int error = 0;  // the error that ended the count; 0: none
};

Pages CountPages(const void* data, int64_t size_bytes) {
  std::array<unsigned char, 1024> residence;  // one per page
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = address + static_cast<uintptr_t>(size_bytes);
  uintptr_t next = address / page * page;
  Pages pages;
  while (next < end) {
    const size_t bytes =
        static_cast<size_t>(std::min(end - next, residence.size() * page));
    if (mincore(reinterpret_cast<void*>(next), bytes, residence.data()) == 0) {
      const size_t count = (bytes + page - 1) / page;
      for (size_t i = 0; i < count; ++i) pages.present += residence[i] & 1;
      next += bytes;
    } else if (errno != EAGAIN) {
      pages.error = errno;
      break;
    }
  }
  return pages;
}

}  // namespace

bool IsMapped(const void* data, int64_t size_bytes) {
  return CountPages(data, size_bytes).error != ENOMEM;
}

int64_t PresentBytes(const void* data, int64_t size_bytes) {
  const Pages pages = CountPages(data, size_bytes);
  return pages.error == 0 ? pages.present * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace footprint
