#include "footprint/profiling/process_memory.h"

#include <errno.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

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

bool HasHadChildProcess() {
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  if (children.ru_maxrss > 0) return true;
  siginfo_t unused = {};
  return waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0 ||
         errno != ECHILD;
}

}  // namespace footprint
