#include "footprint/profiling/python/python_allocators.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "footprint/profiling/heap/heap_counters.h"
#include "footprint/profiling/heap/system_mmap.h"
#include "footprint/profiling/malloc/counted_blocks.h"
#include "footprint/profiling/python/interpreter_layout.h"
#include "footprint/profiling/python/object_memory.h"

namespace footprint::profiling_internal {
namespace {

// The argument of PyMem_SetAllocator, as since 3.5.
struct Allocator {
  void* context;
  void* (*allocate)(void* context, size_t size);
  void* (*allocate_zeroed)(void* context, size_t count, size_t size);
  void* (*reallocate)(void* context, void* block, size_t size);
  void (*deallocate)(void* context, void* block);
};
// The argument of PyObject_SetArenaAllocator, as since 3.4.
struct ArenaAllocator {
  void* context;
  void* (*allocate)(void* context, size_t size);
  void (*deallocate)(void* context, void* arena, size_t size);
};

enum Domain : int { kMemory = 1, kObjects = 2 };
constexpr int kDomains = 3;

constexpr size_t kArenaBytes = size_t{1} << 20;
constexpr uintptr_t kPoolBytes = uintptr_t{16} << 10;
// The class in struct pool_header follows a count, three pointers and the
// arena's index.
constexpr uintptr_t kSizeClass = 36;
constexpr size_t kClassBytes = 16;
constexpr size_t kLargestObject = 512;

// The interpreter's own allocators.
Allocator own_allocators[kDomains];
ArenaAllocator own_arenas;
// Null after its call.
void (*call_on_first_object)() = nullptr;
// Whether Python has called our hooks, so that it did not choose others.
bool hooks_are_used = false;

// ---- Arenas ----

// A bit for each MiB of addresses, since our arenas are aligned to and as large
// as one. Written under Python's lock. Null if no arena is counted.
uint64_t* arena_bits = nullptr;
constexpr size_t kBitsBytes = (size_t{1} << 47) / kArenaBytes / 8;

bool IsInArena(const void* block) {
  const uintptr_t arena = reinterpret_cast<uintptr_t>(block) / kArenaBytes;
  return (arena_bits[arena / 64 % (kBitsBytes / 8)] >> arena % 64 & 1) != 0;
}

void FlipArena(const void* arena) {
  const uintptr_t number = reinterpret_cast<uintptr_t>(arena) / kArenaBytes;
  arena_bits[number / 64] ^= uint64_t{1} << number % 64;
}

void* MapPages(size_t size) {
  void* const pages =
      SystemMmap(nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void UnmapPages(uintptr_t begin, uintptr_t end) {
  if (begin < end) syscall(SYS_munmap, begin, end - begin);
}

// Maps an arena that is aligned to a MiB, and unmaps what lies around it.
void* MapArena() {
  void* const pages = MapPages(2 * kArenaBytes);
  if (pages == nullptr) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(pages);
  const uintptr_t arena = (begin + kArenaBytes - 1) / kArenaBytes * kArenaBytes;
  UnmapPages(begin, arena);
  UnmapPages(arena + kArenaBytes, begin + 2 * kArenaBytes);
  return reinterpret_cast<void*>(arena);
}

void* AllocateArena(void*, size_t size) {
  if (hooks_are_used && size == kArenaBytes) {
    void* const arena = MapArena();
    if (arena != nullptr) {
      FlipArena(arena);
      return arena;
    }
  }
  return own_arenas.allocate(own_arenas.context, size);
}

void FreeArena(void*, void* arena, size_t size) {
  if (arena == nullptr || !IsInArena(arena)) {
    return own_arenas.deallocate(own_arenas.context, arena, size);
  }
  FlipArena(arena);
  const auto begin = reinterpret_cast<uintptr_t>(arena);
  UnmapPages(begin, begin + size);
}

// ---- Objects ----

// Returns the bytes of the block's size class. The block lies in an arena.
int64_t SizeOfObject(const void* block) {
  const uintptr_t pool =
      reinterpret_cast<uintptr_t>(block) / kPoolBytes * kPoolBytes;
  return (static_cast<int64_t>(LoadAs<uint32_t>(pool + kSizeClass)) + 1) *
         static_cast<int64_t>(kClassBytes);
}

// The first object shows whether the pool's header has the expected size class.
enum class Layout {
  kUnknown,
  kIsAsExpected,
  kIsOther
} layout = Layout::kUnknown;

bool IsAsExpected(const void* block, size_t size) {
  const size_t asked = size == 0 ? 1 : size;
  const size_t rounded = (asked + kClassBytes - 1) / kClassBytes * kClassBytes;
  return SizeOfObject(block) == static_cast<int64_t>(rounded);
}

void BeginToCount(const void* block, size_t size) {
  layout = IsAsExpected(block, size) ? Layout::kIsAsExpected : Layout::kIsOther;
  if (layout == Layout::kIsAsExpected) call_on_first_object();
}

// Counts a block that the interpreter's own allocator returned.
inline void* CountObject(void* block, size_t size) {
  if (block == nullptr || size > kLargestObject || !IsInArena(block)) {
    return block;
  }
  if (__builtin_expect(layout != Layout::kIsAsExpected, 0)) {
    if (layout == Layout::kUnknown) BeginToCount(block, size);
    if (layout == Layout::kIsOther) return block;
  }
  CountBlock<SizeOfObject>(block, static_cast<uint64_t>(SizeOfObject(block)));
  return block;
}

inline bool IsCounted(const void* block) {
  return block != nullptr && IsInArena(block) &&
         layout == Layout::kIsAsExpected;
}

template <int domain>
void* Allocate(void*, size_t size) {
  hooks_are_used = true;
  const Allocator& own = own_allocators[domain];
  return CountObject(own.allocate(own.context, size), size);
}

template <int domain>
void* AllocateZeroed(void*, size_t count, size_t size) {
  hooks_are_used = true;
  const Allocator& own = own_allocators[domain];
  void* const block = own.allocate_zeroed(own.context, count, size);
  // A product that overflows gives no block.
  return CountObject(block, count * size);
}

// Both blocks count for a moment, because both exist.
template <int domain>
void* Reallocate(void*, void* block, size_t size) {
  hooks_are_used = true;
  const Allocator& own = own_allocators[domain];
  if (!IsCounted(block)) {
    return CountObject(own.reallocate(own.context, block, size), size);
  }
  const auto old_bytes = static_cast<uint64_t>(SizeOfObject(block));
  RecordedReallocation<SizeOfObject> recorded(block);
  void* const moved = own.reallocate(own.context, block, size);
  if (moved == block || moved == nullptr) {
    recorded.Leave();
    return moved;
  }
  CountObject(moved, size);
  recorded.ForgetOld();
  Raise(&counted_bytes.deallocated, old_bytes);
  return moved;
}

template <int domain>
void Deallocate(void*, void* block) {
  const Allocator& own = own_allocators[domain];
  const bool is_counted = IsCounted(block);
  if (is_counted) {
    ForgetBlock<SizeOfObject>(block,
                              static_cast<uint64_t>(SizeOfObject(block)));
  }
  own.deallocate(own.context, block);
  if (is_counted && !ThreadIsRegistered()) CountFree();
}

// ---- Hooks ----

// Returns whether the version is one that was tested. Without its lock,
// Python's objects must come from its own allocator.
bool CanChange(uint32_t version, const void* runtime) {
  const uint32_t minor = version >> 16;
  if (minor < 0x030a || minor > 0x030e) return false;
  return minor < 0x030d || IsWithGlobalLock(runtime);
}

// With -X dev and PYTHONDEVMODE the interpreter itself replaces the hooks
// later.
bool UserChose() {
  const char* const chosen = getenv("PYTHONMALLOC");
  return chosen != nullptr && *chosen != '\0';
}

template <typename Function>
bool Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

template <int domain>
Allocator MakeHook() {
  return {nullptr, Allocate<domain>, AllocateZeroed<domain>, Reallocate<domain>,
          Deallocate<domain>};
}

}  // namespace

void CountPythonObjects(uint32_t version, const void* runtime,
                        void (*on_first_object)()) {
  if (!CanChange(version, runtime) || UserChose()) return;
  void (*get)(int, Allocator*);
  void (*set)(int, const Allocator*);
  void (*get_arenas)(ArenaAllocator*);
  void (*set_arenas)(const ArenaAllocator*);
  if (!Find("PyMem_GetAllocator", &get) || !Find("PyMem_SetAllocator", &set) ||
      !Find("PyObject_GetArenaAllocator", &get_arenas) ||
      !Find("PyObject_SetArenaAllocator", &set_arenas)) {
    return;
  }
  arena_bits = static_cast<uint64_t*>(MapPages(kBitsBytes));
  if (arena_bits == nullptr) return;
  call_on_first_object = on_first_object;
  get(kMemory, &own_allocators[kMemory]);
  get(kObjects, &own_allocators[kObjects]);
  get_arenas(&own_arenas);
  const ArenaAllocator arenas = {nullptr, AllocateArena, FreeArena};
  set_arenas(&arenas);
  const Allocator memory = MakeHook<kMemory>();
  const Allocator objects = MakeHook<kObjects>();
  set(kMemory, &memory);
  set(kObjects, &objects);
}

}  // namespace footprint::profiling_internal
