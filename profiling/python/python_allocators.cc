#include "footprint/profiling/python/python_allocators.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "footprint/profiling/python/interpreter_layout.h"

namespace footprint::profiling_internal {
namespace {

// PyMemAllocatorEx, as it has been since 3.5.
struct Allocator {
  void* context;
  void* (*allocate)(void* context, size_t size);
  void* (*allocate_zeroed)(void* context, size_t count, size_t size);
  void* (*reallocate)(void* context, void* block, size_t size);
  void (*deallocate)(void* context, void* block);
};

enum Domain : int { kMemory = 1, kObjects = 2 };

// Null once it was called.
void (*call_on_first_object)() = nullptr;

// Python wants a block of its own where it asks for no bytes.
void* Allocate(void*, size_t size) {
  if (__builtin_expect(call_on_first_object != nullptr, 0)) {
    const auto call = call_on_first_object;
    call_on_first_object = nullptr;
    call();
  }
  return malloc(size == 0 ? 1 : size);
}

void* AllocateZeroed(void*, size_t count, size_t size) {
  return count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);
}

void* Reallocate(void*, void* block, size_t size) {
  return realloc(block, size == 0 ? 1 : size);
}

void Deallocate(void*, void* block) { free(block); }

// Versions for which it was seen to work. Without its lock, Python's objects
// must come from its own allocator.
bool CanChange(uint32_t version, const void* runtime) {
  const uint32_t minor = version >> 16;
  if (minor < 0x0308 || minor > 0x030e) return false;
  return minor < 0x030d || IsWithGlobalLock(runtime);
}

// -X dev and PYTHONDEVMODE make the interpreter itself choose anew.
bool UserChose() {
  const char* const chosen = getenv("PYTHONMALLOC");
  return chosen != nullptr && *chosen != '\0';
}

}  // namespace

void CountPythonObjects(uint32_t version, const void* runtime,
                        void (*on_first_object)()) {
  if (!CanChange(version, runtime) || UserChose()) return;
  const auto set_allocator = reinterpret_cast<void (*)(int, const Allocator*)>(
      dlsym(RTLD_DEFAULT, "PyMem_SetAllocator"));
  if (set_allocator == nullptr) return;
  call_on_first_object = on_first_object;
  const Allocator allocator = {nullptr, Allocate, AllocateZeroed, Reallocate,
                               Deallocate};
  set_allocator(kMemory, &allocator);
  set_allocator(kObjects, &allocator);
}

}  // namespace footprint::profiling_internal
