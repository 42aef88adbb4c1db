#include "footprint/profiling/stacks/readable_stack.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "footprint/base/memory/alignment.h"

namespace footprint::profiling_internal {
namespace {

constexpr uintptr_t kPage = kPageBytes;
constexpr int kPagesAtOnce = 16;
constexpr int kMaxPages = 64;

// Returns how many of the pages from `page` on can be read, up to kPagesAtOnce.
// The kernel copies a byte of each, and stops at the first unreadable one.
int ReadablePages(uintptr_t page) {
  char bytes[kPagesAtOnce];
  iovec places[kPagesAtOnce];
  for (int i = 0; i < kPagesAtOnce; ++i) {
    places[i].iov_base =
        reinterpret_cast<void*>(page + static_cast<uintptr_t>(i) * kPage);
    places[i].iov_len = 1;
  }
  const iovec own = {bytes, sizeof(bytes)};
  const long count = syscall(SYS_process_vm_readv, getpid(), &own, 1, places,
                             kPagesAtOnce, 0L);
  return count < 0 ? 0 : static_cast<int>(count);
}

}  // namespace

uintptr_t ReadableStackEnd(uintptr_t stack_pointer) {
  uintptr_t end = stack_pointer & ~(kPage - 1);
  for (int pages = 0; pages < kMaxPages; pages += kPagesAtOnce) {
    const int readable = ReadablePages(end);
    end += static_cast<uintptr_t>(readable) * kPage;
    if (readable < kPagesAtOnce) break;
  }
  return end <= stack_pointer ? 0 : end;
}

}  // namespace footprint::profiling_internal
