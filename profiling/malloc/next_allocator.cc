#include "footprint/profiling/malloc/next_allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>

#include <atomic>

#include "footprint/base/memory/readable_memory.h"
#include "footprint/profiling/malloc/own_exports.h"
#include "footprint/profiling/records/process_record.h"

namespace footprint::profiling_internal {
namespace {

// ---- Blocks that are allocated before the functions are found ----

constexpr size_t kEarlyBytes = 64 << 10;
constexpr size_t kEarlyAlignment = 16;
alignas(kEarlyAlignment) char early_bytes[kEarlyBytes];
std::atomic<size_t> early_used_bytes{0};

bool IsEarly(const void* block) {
  return reinterpret_cast<uintptr_t>(block) -
             reinterpret_cast<uintptr_t>(early_bytes) <
         kEarlyBytes;
}

size_t EarlySize(const void* block) { return GlibcUsableSize(block); }

// Allocates from the array, whose memory is zero because nothing in it is
// reused. A block has a header like glibc's.
void* AllocateEarly(size_t size) {
  if (size > kEarlyBytes) return nullptr;
  const size_t usable =
      (size + kEarlyAlignment - 1) / kEarlyAlignment * kEarlyAlignment;
  const size_t begin = early_used_bytes.fetch_add(kEarlyAlignment + usable);
  if (begin + kEarlyAlignment + usable > kEarlyBytes) return nullptr;
  char* const block = early_bytes + begin + kEarlyAlignment;
  const size_t header = usable + sizeof(header);
  memcpy(block - sizeof(header), &header, sizeof(header));
  return block;
}

// ---- The functions until the others are found ----

bool IsFound();

void* FirstMalloc(size_t size) {
  FindNextAllocator();
  return IsFound() ? next_allocator.malloc(size) : AllocateEarly(size);
}
void* FirstCalloc(size_t count, size_t size) {
  FindNextAllocator();
  if (IsFound()) return next_allocator.calloc(count, size);
  size_t product;
  if (__builtin_mul_overflow(count, size, &product)) return nullptr;
  return AllocateEarly(product);
}
void* FirstRealloc(void* block, size_t size) {
  FindNextAllocator();
  if (IsFound()) return next_allocator.realloc(block, size);
  void* const moved = AllocateEarly(size);
  if (moved != nullptr && block != nullptr) {
    const size_t old_size = EarlySize(block);
    memcpy(moved, block, old_size < size ? old_size : size);
  }
  return moved;
}
void FirstFree(void* block) {
  FindNextAllocator();
  if (IsFound()) next_allocator.free(block);
}
void* FirstMemalign(size_t alignment, size_t size) {
  FindNextAllocator();
  return IsFound() ? next_allocator.memalign(alignment, size) : nullptr;
}
void* FirstAlignedAlloc(size_t alignment, size_t size) {
  FindNextAllocator();
  return IsFound() ? next_allocator.aligned_alloc(alignment, size) : nullptr;
}
int FirstPosixMemalign(void** block, size_t alignment, size_t size) {
  FindNextAllocator();
  return IsFound() ? next_allocator.posix_memalign(block, alignment, size)
                   : ENOMEM;
}
void* FirstValloc(size_t size) {
  FindNextAllocator();
  return IsFound() ? next_allocator.valloc(size) : nullptr;
}
void* FirstPvalloc(size_t size) {
  FindNextAllocator();
  return IsFound() ? next_allocator.pvalloc(size) : nullptr;
}
size_t FirstUsableSize(void* block) {
  return IsEarly(block) ? EarlySize(block) : 0;
}

// ---- Early blocks afterwards ----

// The next allocator's functions, for blocks that are not in the array. Blocks
// are in the array only if the loader allocates in `dlsym`.
void* (*realloc_of_others)(void*, size_t) = nullptr;
void (*free_of_others)(void*) = nullptr;
size_t (*usable_size_of_others)(void*) = nullptr;

void* ReallocAfterEarly(void* block, size_t size) {
  if (!IsEarly(block)) return realloc_of_others(block, size);
  void* const moved = next_allocator.malloc(size);
  if (moved != nullptr) {
    const size_t old_size = EarlySize(block);
    memcpy(moved, block, old_size < size ? old_size : size);
  }
  return moved;
}
void FreeAfterEarly(void* block) {
  if (!IsEarly(block)) free_of_others(block);
}
size_t UsableSizeAfterEarly(void* block) {
  return IsEarly(block) ? EarlySize(block) : usable_size_of_others(block);
}

// ---- Finding ----

enum class Progress : int { kNone, kBegun, kFound };
std::atomic<Progress> progress{Progress::kNone};

bool IsFound() {
  return progress.load(std::memory_order_acquire) == Progress::kFound;
}

template <typename Function>
void Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

const void* FindObjectBase(const void* address) {
  Dl_info about;
  return address != nullptr && dladdr(address, &about) != 0 ? about.dli_fbase
                                                            : nullptr;
}

size_t NoSize(void*) { return 0; }

// Returns whether `is_right` holds for small blocks. A large one would change
// what the allocator does later: after glibc frees a block with pages of its
// own, it serves other blocks of that size differently.
bool HoldsOfBlocks(const NextAllocator& next,
                   bool (*is_right)(const NextAllocator& next, void* block,
                                    size_t size)) {
  constexpr size_t kSizes[] = {1, 24, 100, 1000};
  for (const size_t size : kSizes) {
    void* const block = next.malloc(size);
    if (block == nullptr) continue;
    const bool holds = is_right(next, block, size);
    next.free(block);
    if (!holds) return false;
  }
  return true;
}

const void* FindCLibraryBase() {
  return FindObjectBase(reinterpret_cast<const void*>(gnu_get_libc_version));
}

// Finds the function that reports sizes: that of malloc's object, or the C
// library's, which another object's malloc may call. A third object's function
// could end the program when it gets a block that is not its own.
void FindUsableSize(NextAllocator* next) {
  Find("malloc_usable_size", &next->usable_size);
  const void* const base =
      FindObjectBase(reinterpret_cast<const void*>(next->usable_size));
  if (base != FindObjectBase(reinterpret_cast<const void*>(next->malloc)) &&
      base != FindCLibraryBase()) {
    next->usable_size = nullptr;
  }
}

bool CanBeRight(size_t told_size, size_t size) {
  return told_size >= size && told_size <= 2 * size + 4096;
}

// Returns whether the C library's function may be asked for the block's size.
// It reads the word before the block, and then a word where the size there
// leads.
bool MayBeOfGlibc(const void* block, size_t size) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  size_t word;
  return CopyIfReadable(address - sizeof(word), &word, sizeof(word)) &&
         CanBeRight(GlibcUsableSize(block), size) &&
         CopyIfReadable(address + GlibcUsableSize(block), &word, sizeof(word));
}

// Returns whether the reported sizes can be right, if malloc is not the C
// library's.
bool TellsSizes(const NextAllocator& next) {
  if (next.usable_size == nullptr) return false;
  const bool is_of_malloc =
      FindObjectBase(reinterpret_cast<const void*>(next.usable_size)) !=
      FindCLibraryBase();
  return (is_of_malloc ||
          HoldsOfBlocks(next,
                        [](const NextAllocator&, void* block, size_t size) {
                          return MayBeOfGlibc(block, size);
                        })) &&
         HoldsOfBlocks(next,
                       [](const NextAllocator& each, void* block, size_t size) {
                         return CanBeRight(each.usable_size(block), size);
                       });
}

bool HasGlibcHeaders(const NextAllocator& next) {
  return HoldsOfBlocks(
      next, [](const NextAllocator& each, void* block, size_t) {
        return GlibcUsableSize(block) == each.usable_size(block);
      });
}

void FindCode(const void* base, NextAllocator* next) {
  struct Search {
    const void* base;
    NextAllocator* next;
  } search = {base, next};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        const auto& wanted = *static_cast<Search*>(data);
        if (reinterpret_cast<const void*>(info->dlpi_addr) != wanted.base) {
          return 0;
        }
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          wanted.next->code_begin = info->dlpi_addr + part.p_vaddr;
          wanted.next->code_end = wanted.next->code_begin + part.p_memsz;
        }
        return 1;
      },
      &search);
}

// Looks up the functions without calling any of them.
NextAllocator Search() {
  NextAllocator next = {};
  Find("malloc", &next.malloc);
  Find("calloc", &next.calloc);
  Find("realloc", &next.realloc);
  Find("free", &next.free);
  Find("memalign", &next.memalign);
  Find("aligned_alloc", &next.aligned_alloc);
  Find("posix_memalign", &next.posix_memalign);
  Find("valloc", &next.valloc);
  Find("pvalloc", &next.pvalloc);
  FindUsableSize(&next);
  const void* const base =
      FindObjectBase(reinterpret_cast<const void*>(next.malloc));
  next.is_c_library = base == FindCLibraryBase();
  if (!next.is_c_library) FindCode(base, &next);
  return next;
}

void FindHowToCount(NextAllocator* next) {
  next->can_be_counted = next->is_c_library || TellsSizes(*next);
  if (!next->can_be_counted) next->usable_size = NoSize;
  next->has_glibc_headers = next->is_c_library && HasGlibcHeaders(*next);
}

// Returns the malloc that callers reach. A program whose code is at fixed
// addresses may have its own stub, which leads to the first malloc behind it.
const void* FindFirstMalloc() {
  const void* const first = dlsym(RTLD_DEFAULT, "malloc");
  Dl_info about;
  const ElfW(Sym)* symbol = nullptr;
  const bool is_stub =
      dladdr1(first, &about,
              reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) != 0 &&
      symbol != nullptr && symbol->st_shndx == SHN_UNDEF;
  if (!is_stub) return first;
  const void* const in_front = FindInFront("malloc");
  return in_front != nullptr ? in_front
                             : reinterpret_cast<const void*>(FindNextAllocator);
}

bool IsAgents(const void* function) {
  return FindObjectBase(function) ==
         FindObjectBase(reinterpret_cast<const void*>(FindNextAllocator));
}

void Append(const char* text, char* name, size_t capacity) {
  size_t used = strlen(name);
  for (; *text != '\0' && used + 1 < capacity; ++text) name[used++] = *text;
  name[used] = '\0';
}

}  // namespace

NextAllocator next_allocator = {FirstMalloc,
                                FirstCalloc,
                                FirstRealloc,
                                FirstFree,
                                FirstMemalign,
                                FirstAlignedAlloc,
                                FirstPosixMemalign,
                                FirstValloc,
                                FirstPvalloc,
                                FirstUsableSize,
                                /*code_begin=*/0,
                                /*code_end=*/0,
                                /*is_c_library=*/true,
                                /*can_be_counted=*/true,
                                /*has_glibc_headers=*/false};

// Calls while another thread searches, or from inside the search, are served
// from the array.
void FindNextAllocator() {
  Progress none = Progress::kNone;
  if (!progress.compare_exchange_strong(none, Progress::kBegun)) return;
  NextAllocator next = Search();
  // FindHowToCount calls the allocator, whose mappings must be recognised even
  // at its first call.
  next_allocator.code_begin = next.code_begin;
  next_allocator.code_end = next.code_end;
  FindHowToCount(&next);
  if (early_used_bytes.load() > 0) {
    realloc_of_others = next.realloc;
    free_of_others = next.free;
    usable_size_of_others = next.usable_size;
    next.realloc = ReallocAfterEarly;
    next.free = FreeAfterEarly;
    next.usable_size = UsableSizeAfterEarly;
  }
  next_allocator = next;
  progress.store(Progress::kFound, std::memory_order_release);
}

void FindHowToCountAgain() {
  FindNextAllocator();
  if (next_allocator.can_be_counted) return;
  NextAllocator next = next_allocator;
  FindUsableSize(&next);
  if (!TellsSizes(next)) return;
  if (usable_size_of_others != nullptr) {
    usable_size_of_others = next.usable_size;
  } else {
    next_allocator.usable_size = next.usable_size;
  }
  next_allocator.can_be_counted = true;
}

void WriteNextAllocatorName(char* name, size_t capacity) {
  FindNextAllocator();
  name[0] = '\0';
  const void* const first = FindFirstMalloc();
  const bool is_behind = IsAgents(first);
  if (is_behind && next_allocator.is_c_library) {
    Append("glibc ", name, capacity);
    Append(gnu_get_libc_version(), name, capacity);
    return;
  }
  const void* const function =
      is_behind ? reinterpret_cast<const void*>(next_allocator.malloc) : first;
  Dl_info about;
  if (dladdr(function, &about) == 0) return Append("unknown", name, capacity);
  if (!is_behind) Append(kPrivateAllocator, name, capacity);
  const char* const slash = strrchr(about.dli_fname, '/');
  Append(slash == nullptr ? about.dli_fname : slash + 1, name, capacity);
  if (is_behind && !next_allocator.can_be_counted) {
    Append(kSilentAllocator, name, capacity);
  }
}

}  // namespace footprint::profiling_internal
