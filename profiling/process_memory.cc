#include "footprint/profiling/process_memory.h"

#include <errno.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

// Weak, so that the library links, and answers honestly, without jemalloc.
extern "C" {
__attribute__((weak)) int mallctl(const char* name, void* old_value,
                                  size_t* old_size, void* new_value,
                                  size_t new_size) noexcept;
}

namespace footprint {
namespace {

int AddImage(dl_phdr_info* image, size_t /*size*/, void* sum) {
  if (std::strstr(image->dlpi_name, "vdso") != nullptr) return 0;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = segment.p_vaddr / page * page;
    const uintptr_t end =
        (segment.p_vaddr + segment.p_memsz + page - 1) / page * page;
    *static_cast<int64_t*>(sum) += static_cast<int64_t>(end - begin);
  }
  return 0;
}

int64_t ReadStatistic(const char* name) {
  size_t value = 0;
  size_t size = sizeof(value);
  if (mallctl == nullptr || mallctl(name, &value, &size, nullptr, 0) != 0) {
    return 0;
  }
  return static_cast<int64_t>(value);
}

}  // namespace

int64_t LoadedImageBytes() {
  int64_t sum = 0;
  dl_iterate_phdr(AddImage, &sum);
  return sum;
}

ResidentBytes ReadResidentBytes() {
  ResidentBytes resident;
  std::FILE* status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return resident;
  char line[256];
  while (std::fgets(line, sizeof(line), status) != nullptr) {
    long kibibytes = 0;
    if (std::sscanf(line, "VmHWM: %ld", &kibibytes) == 1) {
      resident.peak_bytes = int64_t{kibibytes} * 1024;
    } else if (std::sscanf(line, "RssAnon: %ld", &kibibytes) == 1) {
      resident.anonymous_bytes = int64_t{kibibytes} * 1024;
    } else if (std::sscanf(line, "RssFile: %ld", &kibibytes) == 1) {
      resident.file_bytes = int64_t{kibibytes} * 1024;
    }
  }
  std::fclose(status);
  return resident;
}

AllocatorBytes ReadAllocatorBytes() {
  AllocatorBytes bytes;
  if (mallctl == nullptr) return bytes;
  // jemalloc's statistics stand still until the epoch is advanced.
  uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  bytes.allocated_bytes = ReadStatistic("stats.allocated");
  bytes.active_bytes = ReadStatistic("stats.active");
  bytes.resident_bytes = ReadStatistic("stats.resident");
  bytes.mapped_bytes = ReadStatistic("stats.mapped");
  return bytes;
}

bool HasHadChildProcess() {
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  if (children.ru_maxrss > 0) return true;
  siginfo_t unused = {};
  return waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0 ||
         errno != ECHILD;
}

}  // namespace footprint
