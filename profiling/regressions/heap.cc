// exact_heap with a layer in front that plants a regression or records memory,
// if the folder has a file that says which; see planted_regression.h. The
// counted entry points are behind it under other names
// (counted_heap_renames.txt), so a planted block counts as the program's.
//
// Nothing here allocates except what is planted, and all state is in static
// storage.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "footprint/profiling/malloc/operator_definitions.h"
#include "footprint/profiling/regressions/planted_regression.h"

extern "C" {
void* footprint_counted_malloc(size_t size) noexcept;
void* footprint_counted_calloc(size_t count, size_t size) noexcept;
void* footprint_counted_realloc(void* block, size_t size) noexcept;
void footprint_counted_free(void* block) noexcept;
void* footprint_counted_memalign(size_t alignment, size_t size) noexcept;
void* footprint_counted_aligned_alloc(size_t alignment, size_t size) noexcept;
int footprint_counted_posix_memalign(void** block, size_t alignment,
                                     size_t size) noexcept;
void* footprint_counted_new(size_t size);
void* footprint_counted_new_nothrow(size_t size, const std::nothrow_t& tag);
void* footprint_counted_new_aligned(size_t size, std::align_val_t alignment);
void* footprint_counted_new_aligned_nothrow(size_t size,
                                            std::align_val_t alignment,
                                            const std::nothrow_t& tag);
void footprint_counted_delete(void* block) noexcept;
void footprint_counted_delete_sized(void* block, size_t size) noexcept;
void footprint_counted_delete_aligned(void* block,
                                      std::align_val_t alignment) noexcept;
void footprint_counted_delete_sized_aligned(
    void* block, size_t size, std::align_val_t alignment) noexcept;
void* footprint_counted_mmap(void* address, size_t size, int protection,
                             int flags, int file, off_t offset) noexcept;
int footprint_counted_munmap(void* address, size_t size) noexcept;
size_t footprint_jemalloc_sallocx(const void* block, int flags) noexcept;

// MemoryPhase's constructor and End.
void __real__ZN9footprint11MemoryPhaseC1EPKcNS0_6AroundE(void* phase,
                                                         const char* name,
                                                         int around);
void __real__ZN9footprint11MemoryPhase3EndEv(void* phase);
}

namespace footprint {
namespace {

constexpr int kMostOpenPhases = 32;
constexpr size_t kBufferedEvents = 8192;
// MemoryPhase::Around::kEveryThread.
constexpr int kAroundEveryThread = 1;

struct OpenPhase {
  const void* phase = nullptr;
  bool is_around_every_thread = false;
  char path[sizeof(PlantedRegression::phase)] = {};
};

// The state of the main thread, except for `depth`, which each call reads, and
// the phases around every thread, which other threads may begin while it waits.
struct Layer {
  bool is_on = false;
  pthread_t main_thread = {};
  PlantedRegression planted;
  std::atomic<int> depth{0};
  OpenPhase open[kMostOpenPhases];
  int64_t visits = 0;
  const void* armed_phase = nullptr;  // The phase to plant in, if it is open.
  bool is_inside = false;
  int64_t calls = 0;  // Since that phase began.
  int64_t mappings = 0;
  int64_t planted_count = 0;
  bool is_reported = false;
  void* larger_block = nullptr;
  void* later_block = nullptr;  // To be freed at the phase's end.
  bool is_due = false;          // The program has already freed it.
  void* stage_block = nullptr;
  void* larger_mapping = nullptr;
  int record_file = -1;
  size_t event_count = 0;
  AllocationEvent events[kBufferedEvents];
};
Layer layer;

void WriteAll(int file, const void* bytes, size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(file, next, size);
    if (written < 0 && errno == EINTR) continue;
    // Readers refuse a record that is cut short.
    if (written <= 0) return;
    next += written;
    size -= static_cast<size_t>(written);
  }
}

void FlushEvents() {
  WriteAll(layer.record_file, layer.events,
           layer.event_count * sizeof(AllocationEvent));
  layer.event_count = 0;
}

void Record(const AllocationEvent& event) {
  if (layer.record_file < 0) return;
  if (layer.event_count == kBufferedEvents) FlushEvents();
  layer.events[layer.event_count++] = event;
}

bool Records() { return layer.planted.kind == RegressionKind::kNone; }

uint64_t Address(const void* block) {
  return reinterpret_cast<uint64_t>(block);
}

void RecordName(const char* name) {
  const size_t length = std::strlen(name);
  AllocationEvent part;
  for (size_t i = 0; i < NameEvents(length); ++i) {
    const size_t begin = i * sizeof(part);
    const size_t size =
        length - begin < sizeof(part) ? length - begin : sizeof(part);
    char bytes[sizeof(part)] = {};
    std::memcpy(bytes, name + begin, size);
    std::memcpy(static_cast<void*>(&part), bytes, sizeof(part));
    Record(part);
  }
}

// Opens a file for this process alone, when there is something to record.
void OpenRecord() {
  if (layer.record_file >= 0) return;
  char path[sizeof(PlantedRegression::record_path) + 16];
  snprintf(path, sizeof(path), "%s.%d", layer.planted.record_path,
           static_cast<int>(getpid()));
  layer.record_file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

// Reports once per process, when all of the regression took effect.
void ReportPlanted() {
  if (layer.is_reported) return;
  layer.is_reported = true;
  const int file = open(layer.planted.record_path,
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  WriteAll(file, kPlantedLine, std::strlen(kPlantedLine));
  close(file);
}

// Returns a block that was written to, like a program's own.
void* WrittenBlock(int64_t bytes) {
  void* const block = footprint_counted_malloc(static_cast<size_t>(bytes));
  if (block != nullptr) std::memset(block, 1, static_cast<size_t>(bytes));
  // The compiler must not see that nothing reads the block.
  asm volatile("" : : "r"(block) : "memory");
  return block;
}

void CountPlanted() {
  if (++layer.planted_count >= layer.planted.count) ReportPlanted();
}

bool IsArmed() { return layer.armed_phase != nullptr; }

void PlantVolume() {
  while (layer.planted_count < layer.planted.count) {
    footprint_counted_free(WrittenBlock(layer.planted.bytes));
    CountPlanted();
  }
}

void PlantMapping() {
  const size_t size = static_cast<size_t>(layer.planted.bytes);
  void* const mapped =
      footprint_counted_mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return;
  std::memset(mapped, 1, size);
  CountPlanted();
}

// Plants after call `call` of the phase, or at its beginning (-1).
void PlantAfter(int64_t call) {
  const PlantedRegression& planted = layer.planted;
  const int64_t since = call - planted.call;
  switch (planted.kind) {
    case RegressionKind::kKeptBlock:
      // At the beginning all blocks are planted at once, because there is no
      // next call.
      while (since >= 0 && layer.planted_count < planted.count &&
             (call < 0 || since == layer.planted_count * planted.stride)) {
        WrittenBlock(planted.bytes);
        CountPlanted();
      }
      return;
    case RegressionKind::kVolume:
      if (since == 0) PlantVolume();
      return;
    case RegressionKind::kStageBlock:
      if (call >= 0) return;
      layer.stage_block = WrittenBlock(planted.bytes);
      CountPlanted();
      return;
    case RegressionKind::kKeptMapping:
      if (since == 0) PlantMapping();
      return;
    default:
      return;
  }
}

bool Watches() {
  return layer.depth.load(std::memory_order_relaxed) > 0 && !layer.is_inside &&
         pthread_equal(pthread_self(), layer.main_thread) != 0;
}

size_t SizeOfCall(size_t size) {
  if (!IsArmed() || layer.planted.kind != RegressionKind::kLargerBlock ||
      layer.calls != layer.planted.call) {
    return size;
  }
  return size + static_cast<size_t>(layer.planted.bytes);
}

void AfterCall(void* block, size_t size) {
  layer.is_inside = true;
  if (Records()) {
    Record({AllocationEvent::Kind::kAllocated, Address(block),
            static_cast<int64_t>(size),
            static_cast<int64_t>(footprint_jemalloc_sallocx(block, 0))});
  } else if (IsArmed()) {
    const int64_t call = layer.calls++;
    if (call == layer.planted.call) {
      if (layer.planted.kind == RegressionKind::kLargerBlock) {
        layer.larger_block = block;
        CountPlanted();
      } else if (layer.planted.kind == RegressionKind::kLaterFree) {
        layer.later_block = block;
      }
    }
    PlantAfter(call);
  }
  layer.is_inside = false;
}

// Makes a call that allocates a block, and plants if it is due. `call` returns
// the block, or null.
template <typename Call>
inline void* Handed(size_t size, Call call) {
  if (__builtin_expect(!Watches(), 1)) return call(size);
  void* const block = call(SizeOfCall(size));
  if (block != nullptr) AfterCall(block, size);
  return block;
}

// Returns whether the free of `block` is delayed.
bool IsPutOff(void* block) {
  if (block == nullptr || block != layer.later_block || layer.is_due) {
    return false;
  }
  layer.is_due = true;
  CountPlanted();
  return true;
}

bool IsKept(void* block) {
  if (!layer.is_on || layer.is_inside ||
      pthread_equal(pthread_self(), layer.main_thread) == 0) {
    return false;
  }
  if (block != nullptr && layer.record_file >= 0) {
    Record({AllocationEvent::Kind::kFreed, Address(block), 0, 0});
  }
  return IsPutOff(block);
}

// Returns whether the block's size differs from the one that the program knows.
bool IsLarger(void* block) {
  if (block == nullptr || block != layer.larger_block) return false;
  layer.larger_block = nullptr;
  return true;
}

void FreeLater() {
  if (!layer.is_due) return;
  footprint_counted_free(layer.later_block);
  layer.later_block = nullptr;
  layer.is_due = false;
}

// Returns the phase around a new one, like MemoryPhase, or null.
const OpenPhase* FindOuter(bool is_around_every_thread) {
  const OpenPhase* around_all = nullptr;
  for (int i = layer.depth - 1; i >= 0; --i) {
    const OpenPhase& open = layer.open[i];
    if (!open.is_around_every_thread && !is_around_every_thread) return &open;
    if (open.is_around_every_thread && around_all == nullptr) {
      around_all = &open;
    }
  }
  return around_all;
}

// Returns false if the path is too long.
bool SetPath(const OpenPhase* outer, const char* name, OpenPhase* open) {
  const int length = snprintf(open->path, sizeof(open->path), "%s%s%s",
                              outer == nullptr ? "" : outer->path,
                              outer == nullptr ? "" : "/", name);
  return length >= 0 && static_cast<size_t>(length) < sizeof(open->path);
}

void Begin(const void* phase, const char* name, bool is_around_every_thread) {
  const int depth = layer.depth.load(std::memory_order_relaxed);
  if (depth == kMostOpenPhases) return;
  OpenPhase* const open = &layer.open[depth];
  if (!SetPath(FindOuter(is_around_every_thread), name, open)) return;
  open->phase = phase;
  open->is_around_every_thread = is_around_every_thread;
  layer.is_inside = true;
  if (Records()) {
    OpenRecord();
    Record({AllocationEvent::Kind::kPhaseBegins, Address(phase), 0,
            static_cast<int64_t>(std::strlen(open->path))});
    RecordName(open->path);
  } else if (std::strcmp(open->path, layer.planted.phase) == 0 &&
             layer.visits++ == layer.planted.visit) {
    layer.armed_phase = phase;
    if (layer.planted.call < 0) PlantAfter(-1);
  }
  layer.is_inside = false;
  layer.depth.store(depth + 1, std::memory_order_relaxed);
}

// Ends a phase. The user's phases may end after the phases around them.
void End(const void* phase) {
  const int depth = layer.depth.load(std::memory_order_relaxed);
  int at = depth - 1;
  while (at >= 0 && layer.open[at].phase != phase) --at;
  if (at < 0) return;
  layer.is_inside = true;
  if (Records()) {
    Record({AllocationEvent::Kind::kPhaseEnds, Address(phase), 0, 0});
    FlushEvents();
  } else if (layer.armed_phase == phase) {
    layer.armed_phase = nullptr;
    FreeLater();
    footprint_counted_free(layer.stage_block);
    layer.stage_block = nullptr;
  }
  layer.is_inside = false;
  for (; at + 1 < depth; ++at) layer.open[at] = layer.open[at + 1];
  layer.depth.store(depth - 1, std::memory_order_relaxed);
}

bool IsOfMainThread(int around) {
  return around == kAroundEveryThread ||
         pthread_equal(pthread_self(), layer.main_thread) != 0;
}

__attribute__((constructor(103))) void ReadPlantedRegression() {
  const int file = open(kPlantedRegressionName, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t size = read(file, &layer.planted, sizeof(layer.planted));
  close(file);
  layer.is_on = size == static_cast<ssize_t>(sizeof(layer.planted)) &&
                layer.planted.magic == kPlantedRegressionMagic;
  layer.main_thread = pthread_self();
}

size_t WholePages(size_t size) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

void* Mapped(void* address, size_t size, int protection, int flags, int file,
             off_t offset) {
  const bool is_watched = Watches();
  const bool is_larger = is_watched && IsArmed() &&
                         layer.planted.kind == RegressionKind::kLargerMapping &&
                         layer.mappings == layer.planted.call;
  const size_t more = is_larger ? static_cast<size_t>(layer.planted.bytes) : 0;
  void* const mapped = footprint_counted_mmap(address, size + more, protection,
                                              flags, file, offset);
  if (!is_watched || mapped == MAP_FAILED) return mapped;
  if (is_larger) {
    layer.larger_mapping = mapped;
    CountPlanted();
  }
  if (IsArmed()) ++layer.mappings;
  if (Records()) {
    const int64_t bytes = static_cast<int64_t>(WholePages(size));
    Record({AllocationEvent::Kind::kMapped, Address(mapped),
            static_cast<int64_t>(size), bytes});
  }
  return mapped;
}

int Unmapped(void* address, size_t size) {
  if (address != nullptr && address == layer.larger_mapping) {
    layer.larger_mapping = nullptr;
    size = WholePages(size) + static_cast<size_t>(layer.planted.bytes);
  }
  if (layer.record_file >= 0 && Watches()) {
    Record({AllocationEvent::Kind::kUnmapped, Address(address), 0,
            static_cast<int64_t>(WholePages(size))});
  }
  return footprint_counted_munmap(address, size);
}

void* Reallocated(void* block, size_t size) {
  if (block == nullptr || size == 0 || !Watches()) {
    return footprint_counted_realloc(block, size);
  }
  if (block == layer.larger_block) layer.larger_block = nullptr;
  // Then the regression is not planted, which its caller will notice.
  if (block == layer.later_block) layer.later_block = nullptr;
  if (Records()) {
    Record({AllocationEvent::Kind::kMoved, Address(block), 0, 0});
  }
  return Handed(size, [block](size_t asked) {
    return footprint_counted_realloc(block, asked);
  });
}

void* NewBlock(size_t size, bool may_throw) {
  return Handed(size, [may_throw](size_t asked) {
    return may_throw ? footprint_counted_new(asked)
                     : footprint_counted_new_nothrow(asked, std::nothrow);
  });
}

void* NewBlock(size_t size, std::align_val_t alignment, bool may_throw) {
  return Handed(size, [alignment, may_throw](size_t asked) {
    return may_throw ? footprint_counted_new_aligned(asked, alignment)
                     : footprint_counted_new_aligned_nothrow(asked, alignment,
                                                             std::nothrow);
  });
}

void DeleteBlock(void* block) {
  if (IsKept(block)) return;
  IsLarger(block);
  footprint_counted_delete(block);
}

void DeleteBlock(void* block, size_t size) {
  if (IsKept(block)) return;
  if (IsLarger(block)) return footprint_counted_delete(block);
  footprint_counted_delete_sized(block, size);
}

void DeleteBlock(void* block, std::align_val_t alignment) {
  if (IsKept(block)) return;
  IsLarger(block);
  footprint_counted_delete_aligned(block, alignment);
}

void DeleteBlock(void* block, size_t size, std::align_val_t alignment) {
  if (IsKept(block)) return;
  if (IsLarger(block)) {
    return footprint_counted_delete_aligned(block, alignment);
  }
  footprint_counted_delete_sized_aligned(block, size, alignment);
}

}  // namespace
}  // namespace footprint

using footprint::Handed;
using footprint::IsKept;
using footprint::IsLarger;

extern "C" {

void* malloc(size_t size) noexcept {
  return Handed(size,
                [](size_t asked) { return footprint_counted_malloc(asked); });
}

void* calloc(size_t count, size_t size) noexcept {
  size_t product;
  if (__builtin_mul_overflow(count, size, &product)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Handed(
      product, [](size_t asked) { return footprint_counted_calloc(1, asked); });
}

void* realloc(void* block, size_t size) noexcept {
  return block == nullptr ? malloc(size) : footprint::Reallocated(block, size);
}

void free(void* block) noexcept {
  if (IsKept(block)) return;
  IsLarger(block);
  footprint_counted_free(block);
}

void* memalign(size_t alignment, size_t size) noexcept {
  return Handed(size, [alignment](size_t asked) {
    return footprint_counted_memalign(alignment, asked);
  });
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return Handed(size, [alignment](size_t asked) {
    return footprint_counted_aligned_alloc(alignment, asked);
  });
}

int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  int error = 0;
  void* const handed = Handed(size, [&](size_t asked) -> void* {
    void* got = nullptr;
    error = footprint_counted_posix_memalign(&got, alignment, asked);
    return error == 0 ? got : nullptr;
  });
  if (error == 0) *block = handed;
  return error;
}

void* mmap(void* address, size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  return footprint::Mapped(address, size, protection, flags, file, offset);
}

void* mmap64(void* address, size_t size, int protection, int flags, int file,
             off_t offset) noexcept {
  return footprint::Mapped(address, size, protection, flags, file, offset);
}

int munmap(void* address, size_t size) noexcept {
  return footprint::Unmapped(address, size);
}

void __wrap__ZN9footprint11MemoryPhaseC1EPKcNS0_6AroundE(void* phase,
                                                         const char* name,
                                                         int around) {
  __real__ZN9footprint11MemoryPhaseC1EPKcNS0_6AroundE(phase, name, around);
  if (footprint::layer.is_on && footprint::IsOfMainThread(around)) {
    footprint::Begin(phase, name, around == footprint::kAroundEveryThread);
  }
}

void __wrap__ZN9footprint11MemoryPhase3EndEv(void* phase) {
  if (footprint::layer.is_on) footprint::End(phase);
  __real__ZN9footprint11MemoryPhase3EndEv(phase);
}

}  // extern "C"

FOOTPRINT_DEFINE_OPERATORS(footprint::NewBlock, footprint::DeleteBlock)
