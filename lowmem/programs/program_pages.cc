#include "footprint/lowmem/programs/program_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace footprint {
namespace {

// Returns whether the object's code is relocated in place, so that its pages
// differ from the file.
bool HasRelocatedText(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL) return true;
      if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) {
        return true;
      }
    }
  }
  return false;
}

int ReleaseObject(dl_phdr_info* object, size_t, void* released) {
  if (HasRelocatedText(*object)) return 0;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    // Relocated pointers that are read-only later are in a writable segment.
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) != 0) continue;
    // The loader maps whole pages.
    const uintptr_t begin = (object->dlpi_addr + header.p_vaddr) / page * page;
    const uintptr_t end =
        (object->dlpi_addr + header.p_vaddr + header.p_filesz + page - 1) /
        page * page;
    // The kernel refuses mappings without a file, such as its own page.
    if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) ==
        0) {
      *static_cast<int64_t*>(released) += static_cast<int64_t>(end - begin);
    }
  }
  return 0;
}

}  // namespace

int64_t ReleaseProgramPages() {
  int64_t released = 0;
  dl_iterate_phdr(ReleaseObject, &released);
  return released;
}

}  // namespace footprint
