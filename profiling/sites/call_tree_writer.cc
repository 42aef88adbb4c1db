#include "footprint/profiling/sites/call_tree_writer.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace footprint::profiling_internal {
namespace {

// The build's identity, from the object's own notes.
void ReadBuildId(const link_map* map, ModuleRecord* module) {
  const auto* const header =
      reinterpret_cast<const ElfW(Ehdr)*>(module->begin_address);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(
      module->begin_address + header->e_phoff);
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
    module->path[capacity] = '\0';
    return;
  }
  // The program itself has no name there.
  const ssize_t size = readlink("/proc/self/exe", module->path, capacity);
  module->path[size < 0 ? 0 : size] = '\0';
}

// Whether the object is the recorded one: another may have been loaded to the
// addresses of one that is gone, even by the same path.
bool IsSame(const ModuleRecord& recorded, const ModuleRecord& loaded,
            const char* name) {
  return recorded.begin_address == loaded.begin_address &&
         recorded.end_address == loaded.end_address &&
         recorded.load_bias == loaded.load_bias &&
         recorded.build_id_size == loaded.build_id_size &&
         memcmp(recorded.build_id, loaded.build_id, loaded.build_id_size) ==
             0 &&
         (name == nullptr || *name == '\0' ||
          strncmp(recorded.path, name, sizeof(recorded.path) - 1) == 0);
}

}  // namespace

bool CallTreeWriter::Begin(GrowingFile* file, CallTreeRecord* tree,
                           size_t offset_bytes) {
  tree_ = tree;
  index_.Clear();
  nodes_ = GrowingArray(file, offset_bytes + offsetof(CallTreeRecord, nodes),
                        sizeof(CallNode), kMaxCallNodes);
  modules_ =
      GrowingArray(file, offset_bytes + offsetof(CallTreeRecord, modules),
                   sizeof(ModuleRecord), kMaxModules);
  if (!nodes_.Reach(kRootNode)) return false;
  tree->node_count = 1;
  return true;
}

// The object that holds the code now.
uint32_t CallTreeWriter::FindModule(uintptr_t program_counter) {
  if ((program_counter & kInterpretedCall) != 0) return kInterpretedModule;
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(program_counter), &found) != 0) {
    return kNoModule;
  }
  const uint32_t count = tree_->module_count.load(std::memory_order_relaxed);
  ModuleRecord loaded;
  loaded.begin_address = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  loaded.end_address = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  loaded.load_bias = found.dlfo_link_map->l_addr;
  loaded.build_id_size = 0;
  ReadBuildId(found.dlfo_link_map, &loaded);
  for (uint32_t i = count; i-- > 0;) {
    if (IsSame(tree_->modules[i], loaded, found.dlfo_link_map->l_name)) {
      return i;
    }
  }
  if (!modules_.Reach(count)) {
    NoteFull();
    return kNoModule;
  }
  WritePath(found.dlfo_link_map, &loaded);
  tree_->modules[count] = loaded;
  tree_->module_count.store(count + 1, std::memory_order_release);
  return count;
}

// kRootNode where there is no room.
uint32_t CallTreeWriter::FindCall(uint32_t parent, uintptr_t program_counter) {
  const uint64_t hash = HashPair(parent, program_counter);
  const uint32_t known = index_.Find(hash, [&](uint32_t number) {
    const CallNode& node = tree_->nodes[number];
    return node.parent == parent && node.program_counter == program_counter;
  });
  if (known != NumberIndex::kNone) return known;
  const uint32_t number = tree_->node_count.load(std::memory_order_relaxed);
  if (!nodes_.Reach(number) || !index_.Add(hash, number)) {
    NoteFull();
    return kRootNode;
  }
  tree_->nodes[number] = {program_counter, parent, FindModule(program_counter)};
  tree_->node_count.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t CallTreeWriter::FindNode(const uintptr_t* calls, int count) {
  uint32_t node = kRootNode;
  for (int i = count; i-- > 0;) {
    const uint32_t inner = FindCall(node, calls[i]);
    if (inner == kRootNode) break;
    node = inner;
  }
  return node;
}

}  // namespace footprint::profiling_internal
