#include "footprint/profiling/malloc/own_exports.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace footprint::profiling_internal {
namespace {

const void* FindBase(const void* address) {
  Dl_info about;
  return address != nullptr && dladdr(address, &about) != 0 ? about.dli_fbase
                                                            : nullptr;
}

// Returns an address in this object.
const void* ThisObject() { return reinterpret_cast<const void*>(&FindBase); }

// The tables in which the loader looks names up.
struct Tables {
  ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* hashes = nullptr;
};

// Sets an address from a table. The loader has turned offsets into addresses,
// unless the section is read-only.
template <typename Pointer>
void SetAddress(uintptr_t base, uintptr_t value, Pointer* address) {
  *address = reinterpret_cast<Pointer>(value < base ? base + value : value);
}

// Returns null if the loader does not know this object.
const link_map* FindThisObject() {
  Dl_info about;
  link_map* object = nullptr;
  return dladdr1(ThisObject(), &about, reinterpret_cast<void**>(&object),
                 RTLD_DL_LINKMAP) == 0
             ? nullptr
             : object;
}

Tables FindTables(const link_map* object) {
  Tables tables;
  if (object == nullptr) return tables;
  for (const ElfW(Dyn)* each = object->l_ld; each->d_tag != DT_NULL; ++each) {
    const uintptr_t value = each->d_un.d_ptr;
    if (each->d_tag == DT_SYMTAB) {
      SetAddress(object->l_addr, value, &tables.symbols);
    } else if (each->d_tag == DT_STRTAB) {
      SetAddress(object->l_addr, value, &tables.names);
    } else if (each->d_tag == DT_GNU_HASH) {
      SetAddress(object->l_addr, value, &tables.hashes);
    }
  }
  return tables;
}

uint32_t GnuHash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) {
    hash = hash * 33 + static_cast<unsigned char>(*name);
  }
  return hash;
}

// Returns the object's entry of the name, or null if it does not export it. The
// hash table has its sizes, a filter, the first symbol of each bucket, and the
// hash of each symbol, whose lowest bit ends a bucket.
ElfW(Sym) * FindEntry(const link_map* object, const char* name) {
  const Tables tables = FindTables(object);
  if (tables.symbols == nullptr || tables.names == nullptr ||
      tables.hashes == nullptr) {
    return nullptr;
  }
  const uint32_t bucket_count = tables.hashes[0];
  const uint32_t first_symbol = tables.hashes[1];
  const uint32_t filter_words = tables.hashes[2] * sizeof(ElfW(Addr)) / 4;
  const uint32_t* const buckets = tables.hashes + 4 + filter_words;
  const uint32_t* const chain = buckets + bucket_count;
  const uint32_t hash = GnuHash(name);
  uint32_t symbol = bucket_count == 0 ? 0 : buckets[hash % bucket_count];
  if (symbol < first_symbol) return nullptr;
  for (;; ++symbol) {
    const uint32_t each = chain[symbol - first_symbol];
    ElfW(Sym)* const entry = tables.symbols + symbol;
    if ((each | 1) == (hash | 1) &&
        strcmp(tables.names + entry->st_name, name) == 0) {
      return entry->st_shndx == SHN_UNDEF ? nullptr : entry;
    }
    if ((each & 1) != 0) return nullptr;
  }
}

// Returns the protection of the segment that contains the address.
int FindProtection(const void* address) {
  struct Search {
    uintptr_t address;
    int protection;
  } search = {reinterpret_cast<uintptr_t>(address), PROT_READ};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* const wanted = static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD ||
              wanted->address - (info->dlpi_addr + part.p_vaddr) >=
                  part.p_memsz) {
            continue;
          }
          wanted->protection = ((part.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                               ((part.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                               ((part.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
          return 1;
        }
        return 0;
      },
      &search);
  return search.protection;
}

}  // namespace

bool IsOfThisObject(const void* function) {
  const void* const base = FindBase(function);
  return base != nullptr && base == FindBase(ThisObject());
}

const void* FindInFront(const char* name) {
  const void* first = nullptr;
  const link_map* object = FindThisObject();
  if (object == nullptr) return nullptr;
  // The first object is the program.
  for (object = object->l_prev; object != nullptr && object->l_prev != nullptr;
       object = object->l_prev) {
    const ElfW(Sym)* const entry = FindEntry(object, name);
    if (entry == nullptr) continue;
    first = reinterpret_cast<const void*>(object->l_addr + entry->st_value);
  }
  return first;
}

bool WithdrawExport(const char* name) {
  ElfW(Sym)* const entry = FindEntry(FindThisObject(), name);
  if (entry == nullptr) return true;
  const uintptr_t page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t address = reinterpret_cast<uintptr_t>(entry);
  const uintptr_t begin = address / page_bytes * page_bytes;
  const size_t size = address + sizeof(*entry) - begin;
  const int protection = FindProtection(entry);
  void* const pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, size, protection | PROT_WRITE) != 0) return false;
  // The loader skips a name without a value.
  entry->st_value = 0;
  mprotect(pages, size, protection);
  return true;
}

}  // namespace footprint::profiling_internal
