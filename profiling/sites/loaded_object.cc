#include "footprint/profiling/sites/loaded_object.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

namespace footprint::profiling_internal {
namespace {

// Reads the build ID from the object's own notes.
void ReadBuildId(const link_map* map, uintptr_t begin_address,
                 ModuleRecord* module) {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(begin_address);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* const segments =
      reinterpret_cast<const ElfW(Phdr)*>(begin_address + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    uintptr_t at = map->l_addr + segments[i].p_vaddr;
    const uintptr_t end = at + segments[i].p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const uintptr_t name = at + sizeof(ElfW(Nhdr));
      const uintptr_t content = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          content + note->n_descsz <= end) {
        module->build_id_size = static_cast<uint32_t>(
            std::min<size_t>(note->n_descsz, sizeof(module->build_id)));
        memcpy(module->build_id, reinterpret_cast<const void*>(content),
               module->build_id_size);
        return;
      }
      at = content + (note->n_descsz + 3) / 4 * 4;
    }
  }
}

void WritePath(const link_map* map, ModuleRecord* module) {
  const size_t capacity = sizeof(module->path) - 1;
  if (map->l_name != nullptr && *map->l_name != '\0') {
    strncpy(module->path, map->l_name, capacity);
    return;
  }
  // The program itself has no name in the link map.
  const ssize_t size = readlink("/proc/self/exe", module->path, capacity);
  if (size < 0) module->path[0] = '\0';
}

}  // namespace

void DescribeLoadedObject(const dl_find_object& found, ModuleRecord* module) {
  const link_map* const map = found.dlfo_link_map;
  const auto begin = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  WritePath(map, module);
  ReadBuildId(map, begin, module);
  module->load_bias = map->l_addr;
  module->end_address = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
  module->begin_address = begin;
}

bool IsLoadedObject(const ModuleRecord& recorded, const dl_find_object& found) {
  const link_map* const map = found.dlfo_link_map;
  const auto begin = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  if (recorded.begin_address != begin ||
      recorded.end_address != reinterpret_cast<uintptr_t>(found.dlfo_map_end) ||
      recorded.load_bias != map->l_addr) {
    return false;
  }
  // The program itself has no name in the link map, and is never unloaded.
  if (map->l_name == nullptr || *map->l_name == '\0') return true;
  if (strncmp(recorded.path, map->l_name, sizeof(recorded.path) - 1) != 0) {
    return false;
  }
  ModuleRecord loaded;
  loaded.build_id_size = 0;
  ReadBuildId(map, begin, &loaded);
  return recorded.build_id_size == loaded.build_id_size &&
         memcmp(recorded.build_id, loaded.build_id, loaded.build_id_size) == 0;
}

}  // namespace footprint::profiling_internal
