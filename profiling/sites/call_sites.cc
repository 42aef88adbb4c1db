#include "footprint/profiling/sites/call_sites.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/published_allocator.h"
#include "footprint/profiling/records/site_record.h"
#include "footprint/profiling/sites/system_pages.h"
#include "footprint/profiling/stacks/stack_unwinder.h"

namespace footprint::profiling_internal {

BlockTable recorded_blocks;
bool every_allocation_is_recorded = false;

namespace {

constexpr int kMaxCalls = 256;
constexpr int64_t kLeastTimeResolutionNs = 1'000'000;
// Of the file, taken from the disk at a time.
constexpr size_t kGrowthBytes = size_t{256} << 10;

pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

class SitesLock {
 public:
  SitesLock() { pthread_mutex_lock(&lock); }
  ~SitesLock() { pthread_mutex_unlock(&lock); }
  SitesLock(const SitesLock&) = delete;
  SitesLock& operator=(const SitesLock&) = delete;
};

SiteFile* sites = nullptr;
int site_descriptor = -1;
// 0: of every allocation; meaningless without `sites`.
int64_t interval_bytes = 0;
int64_t live_bytes = 0;
std::atomic<int64_t> next_time_point_ns{0};
std::atomic<uint32_t> thread_count{0};
__thread uint32_t thread_number __attribute__((tls_model("initial-exec"))) = 0;

// An array of the file and how much of it has space on the disk.
struct FileArray {
  size_t offset;
  size_t entry_bytes;
  uint32_t capacity;
  size_t taken_bytes;

  // Makes sure that there is room for the entry of that index.
  bool Reach(uint32_t index) {
    if (index >= capacity) return false;
    const size_t wanted_bytes = (index + size_t{1}) * entry_bytes;
    if (wanted_bytes <= taken_bytes) return true;
    if (posix_fallocate(site_descriptor,
                        static_cast<off_t>(offset + taken_bytes),
                        kGrowthBytes) != 0) {
      return false;
    }
    taken_bytes += kGrowthBytes;
    return true;
  }
};

FileArray node_array;
FileArray site_array;
FileArray module_array;

// Numbers by a 64-bit hash; the numbers' owner says which have it.
class NumberIndex {
 public:
  static constexpr uint32_t kNone = 0;

  template <typename Matches>
  uint32_t Find(uint64_t hash, Matches matches) const {
    if (entries_ == nullptr) return kNone;
    for (size_t i = Home(hash);; i = (i + 1) & mask_) {
      if (entries_[i].number == kNone) return kNone;
      if (entries_[i].tag == static_cast<uint32_t>(hash) &&
          matches(entries_[i].number)) {
        return entries_[i].number;
      }
    }
  }

  // False: the kernel has no memory.
  bool Add(uint64_t hash, uint32_t number) {
    if (entries_ == nullptr || count_ * 2 > mask_) {
      if (!Grow()) return false;
    }
    Put(hash, number);
    ++count_;
    return true;
  }

  void Clear() {
    GivePagesBack(entries_, (mask_ + 1) * sizeof(Entry));
    entries_ = nullptr;
    mask_ = 0;
    count_ = 0;
  }

 private:
  struct Entry {
    uint32_t number;
    uint32_t tag;
    uint64_t hash;
  };

  size_t Home(uint64_t hash) const { return (hash >> 20) & mask_; }

  void Put(uint64_t hash, uint32_t number) {
    size_t i = Home(hash);
    while (entries_[i].number != kNone) i = (i + 1) & mask_;
    entries_[i] = {number, static_cast<uint32_t>(hash), hash};
  }

  bool Grow() {
    const size_t capacity = entries_ == nullptr ? 1024 : (mask_ + 1) * 2;
    auto* const grown =
        static_cast<Entry*>(TakePages(capacity * sizeof(Entry)));
    if (grown == nullptr) return false;
    Entry* const old = entries_;
    const size_t old_capacity = old == nullptr ? 0 : mask_ + 1;
    entries_ = grown;
    mask_ = capacity - 1;
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i].number != kNone) Put(old[i].hash, old[i].number);
    }
    GivePagesBack(old, old_capacity * sizeof(Entry));
    return true;
  }

  Entry* entries_ = nullptr;
  size_t mask_ = 0;
  size_t count_ = 0;
};

NumberIndex node_index;
NumberIndex site_index;

uint64_t Hash(uint64_t a, uint64_t b) {
  uint64_t hash = (a ^ b * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
  return (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53;
}

int64_t CoarseTimeNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

uint32_t ThreadNumber() {
  if (thread_number == 0) thread_number = ++thread_count;
  return thread_number;
}

uint32_t CurrentStage() {
  const PublishedHeap* const published = process.published;
  return published == nullptr
             ? 0
             : published->stage.load(std::memory_order_relaxed);
}

uint64_t PeakNumber() {
  if (interval_bytes == 0) {
    return sites->peak_number.load(std::memory_order_relaxed);
  }
  const PublishedHeap* const published = process.published;
  return published == nullptr
             ? 0
             : published->peak_count.load(std::memory_order_relaxed);
}

// The functions below need the lock.

void NoteFull() { sites->is_full.store(1, std::memory_order_relaxed); }

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
    return;
  }
  // The program itself has no name there.
  const ssize_t size = readlink("/proc/self/exe", module->path, capacity);
  if (size < 0) module->path[0] = '\0';
}

// The object that holds `pc` now.
uint32_t FindModule(uintptr_t pc) {
  const uint32_t count = sites->module_count.load(std::memory_order_relaxed);
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0) {
    return kNoModule;
  }
  const uint64_t begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  const uint64_t end = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  for (uint32_t i = count; i-- > 0;) {
    const ModuleRecord& module = sites->modules[i];
    if (module.begin_address == begin && module.end_address == end &&
        module.load_bias == found.dlfo_link_map->l_addr) {
      return i;
    }
  }
  if (!module_array.Reach(count)) {
    NoteFull();
    return kNoModule;
  }
  ModuleRecord& module = sites->modules[count];
  module.begin_address = begin;
  module.end_address = end;
  module.load_bias = found.dlfo_link_map->l_addr;
  WritePath(found.dlfo_link_map, &module);
  ReadBuildId(found.dlfo_link_map, &module);
  sites->module_count.store(count + 1, std::memory_order_release);
  return count;
}

// kRootNode where there is no room.
uint32_t FindNode(uint32_t parent, uintptr_t pc) {
  const uint64_t hash = Hash(parent, pc);
  const uint32_t known = node_index.Find(hash, [&](uint32_t number) {
    const CallNode& node = sites->nodes[number];
    return node.parent == parent && node.program_counter == pc;
  });
  if (known != NumberIndex::kNone) return known;
  const uint32_t number = sites->node_count.load(std::memory_order_relaxed);
  if (!node_array.Reach(number) || !node_index.Add(hash, number)) {
    NoteFull();
    return kRootNode;
  }
  sites->nodes[number] = {pc, parent, FindModule(pc)};
  sites->node_count.store(number + 1, std::memory_order_release);
  return number;
}

// Site 0 is of what cannot be told: without room, or from before the begin.
uint32_t FindSite(uint32_t node, uint32_t thread, uint32_t stage) {
  const uint64_t hash = Hash(Hash(node, thread), stage);
  const uint32_t known = site_index.Find(hash, [&](uint32_t number) {
    const SiteRecord& site = sites->sites[number];
    return site.node == node && site.thread == thread && site.stage == stage;
  });
  if (known != NumberIndex::kNone) return known;
  const uint32_t number = sites->site_count.load(std::memory_order_relaxed);
  if (!site_array.Reach(number) || !site_index.Add(hash, number)) {
    NoteFull();
    return 0;
  }
  SiteRecord& site = sites->sites[number];
  site.node = node;
  site.thread = thread;
  site.stage = stage;
  sites->site_count.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t FindSiteOfStack(const uintptr_t* pcs, int count) {
  uint32_t node = kRootNode;
  for (int i = count; i-- > 0;) {
    const uint32_t inner = FindNode(node, pcs[i]);
    if (inner == kRootNode) break;
    node = inner;
  }
  return FindSite(node, ThreadNumber(), CurrentStage());
}

// What a recorded block stands for.
struct Estimate {
  int64_t bytes;
  int64_t count;
  double variance;
};

Estimate EstimateOf(int64_t size_bytes) {
  if (interval_bytes == 0) return {size_bytes, 1, 0};
  const double size = static_cast<double>(size_bytes);
  const double probability =
      -expm1(-size / static_cast<double>(interval_bytes));
  const double bytes = size / probability;
  return {static_cast<int64_t>(bytes + 0.5),
          static_cast<int64_t>(1 / probability + 0.5),
          bytes * bytes * (1 - probability)};
}

// To be called before a site's live figures change.
void KeepFiguresAtPeak(SiteRecord* site) {
  const uint64_t peak = PeakNumber();
  if (site->peak_number == peak) return;
  site->at_peak_bytes = site->live_bytes;
  site->at_peak_count = site->live_count;
  site->at_peak_variance = site->live_variance;
  site->peak_number = peak;
}

void AddLive(uint32_t number, int64_t size_bytes, int sign) {
  SiteRecord* const site = &sites->sites[number];
  KeepFiguresAtPeak(site);
  const Estimate estimate = EstimateOf(size_bytes);
  site->live_bytes += sign * estimate.bytes;
  site->live_count += sign * estimate.count;
  site->live_variance += sign * estimate.variance;
  live_bytes += sign * estimate.bytes;
}

void AddAllocated(uint32_t number, int64_t size_bytes) {
  SiteRecord* const site = &sites->sites[number];
  const Estimate estimate = EstimateOf(size_bytes);
  site->allocated_bytes += estimate.bytes;
  site->allocation_count += estimate.count;
  site->allocated_variance += estimate.variance;
  ++site->sample_count;
}

// Without sampling, the sites find the peak by themselves.
void RaiseOwnPeak() {
  if (interval_bytes != 0 ||
      live_bytes <= sites->peak_live_bytes.load(std::memory_order_relaxed)) {
    return;
  }
  sites->peak_live_bytes.store(live_bytes, std::memory_order_relaxed);
  sites->peak_number.store(
      sites->peak_number.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

uint32_t CallsOfThread() {
  return static_cast<uint32_t>(
      thread_counters.allocation_count.load(std::memory_order_relaxed));
}

// Every second point goes, and later ones come half as often: of two, the
// higher stays.
void HalveTimePoints() {
  for (uint32_t i = 0; i < kMaxTimePoints / 2; ++i) {
    const TimePoint& first = sites->time_points[2 * i];
    const TimePoint& second = sites->time_points[2 * i + 1];
    sites->time_points[i] =
        first.live_bytes > second.live_bytes ? first : second;
  }
  sites->time_point_count.store(kMaxTimePoints / 2, std::memory_order_relaxed);
  sites->time_resolution_ns.store(
      sites->time_resolution_ns.load(std::memory_order_relaxed) * 2,
      std::memory_order_relaxed);
}

bool FileSizeIsLimited() {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         limit.rlim_cur < sizeof(SiteFile);
}

SiteFile* MapSites(int folder, const char* file_name) {
  if (FileSizeIsLimited()) return nullptr;
  const int file =
      openat(folder, file_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  const int high = fcntl(file, F_DUPFD_CLOEXEC, 1000);
  site_descriptor = high < 0 ? file : high;
  if (high >= 0) close(file);
  const size_t head_bytes = offsetof(SiteFile, modules);
  if (ftruncate(site_descriptor, sizeof(SiteFile)) != 0 ||
      posix_fallocate(site_descriptor, 0, static_cast<off_t>(head_bytes)) !=
          0) {
    return nullptr;
  }
  void* const mapped = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, sizeof(SiteFile), PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_NORESERVE, site_descriptor, 0));
  return mapped == MAP_FAILED ? nullptr : static_cast<SiteFile*>(mapped);
}

void LockSites() { pthread_mutex_lock(&lock); }
void UnlockSites() { pthread_mutex_unlock(&lock); }

// Before the counters' (101): their lock is taken inside of this one.
__attribute__((constructor(102))) void WatchForks() {
  pthread_atfork(LockSites, UnlockSites, UnlockSites);
}

void ForgetParent() {
  if (sites != nullptr) syscall(SYS_munmap, sites, sizeof(SiteFile));
  if (site_descriptor >= 0) close(site_descriptor);
  sites = nullptr;
  every_allocation_is_recorded = false;
  site_descriptor = -1;
  node_index.Clear();
  site_index.Clear();
  // Blocks that the parent recorded are the child's to free.
  new (&recorded_blocks) BlockTable();
  live_bytes = 0;
  thread_count = 0;
  thread_number = 0;
}

}  // namespace

bool BeginCallSites(int folder, const char* file_name,
                    int64_t sampling_interval_bytes) {
  SitesLock guard;
  ForgetParent();
  SiteFile* const opened = MapSites(folder, file_name);
  if (opened == nullptr) return false;
  node_array = {offsetof(SiteFile, nodes), sizeof(CallNode), kMaxCallNodes, 0};
  site_array = {offsetof(SiteFile, sites), sizeof(SiteRecord), kMaxSites, 0};
  module_array = {offsetof(SiteFile, modules), sizeof(ModuleRecord),
                  kMaxModules, 0};
  if (!node_array.Reach(0) || !site_array.Reach(0)) return false;
  interval_bytes = sampling_interval_bytes;
  opened->sampling_interval_bytes = sampling_interval_bytes;
  opened->time_resolution_ns = kLeastTimeResolutionNs;
  opened->node_count = 1;
  opened->site_count = 1;
  sites = opened;
  every_allocation_is_recorded = interval_bytes == 0;
  if (interval_bytes == 0) {
    AddLive(0, LiveHeapBytes(), 1);
    RaiseOwnPeak();
  }
  __atomic_store_n(&opened->magic, kSiteMagic, __ATOMIC_RELEASE);
  return true;
}

void RecordFreeOfOlder(int64_t size_bytes) {
  if (size_bytes == 0) return;
  SitesLock guard;
  if (sites != nullptr) AddLive(0, size_bytes, -1);
}

void RecordAllocation(void* block, int64_t size_bytes) {
  uintptr_t pcs[kMaxCalls];
  const int count = UnwindStack(CallingFrame(), 0, pcs, kMaxCalls);
  SitesLock guard;
  if (sites == nullptr) return;
  const uint32_t site = FindSiteOfStack(pcs, count);
  AddAllocated(site, size_bytes);
  if (!recorded_blocks.Add({reinterpret_cast<uintptr_t>(block), size_bytes,
                            site, CallsOfThread()})) {
    NoteFull();
    return;
  }
  AddLive(site, size_bytes, 1);
  RaiseOwnPeak();
}

void RecordFree(void* block) {
  SitesLock guard;
  RecordedBlock recorded;
  if (sites == nullptr || !recorded_blocks.Remove(block, &recorded)) return;
  SiteRecord& site = sites->sites[recorded.site];
  if (site.thread == thread_number && recorded.calls == CallsOfThread()) {
    site.temporary_count += EstimateOf(recorded.size_bytes).count;
  }
  AddLive(recorded.site, recorded.size_bytes, -1);
}

bool DetachRecorded(void* block, RecordedBlock* detached) {
  SitesLock guard;
  return sites != nullptr && recorded_blocks.Remove(block, detached);
}

void ForgetDetached(const RecordedBlock& detached) {
  SitesLock guard;
  if (sites != nullptr) AddLive(detached.site, detached.size_bytes, -1);
}

void AttachAgain(const RecordedBlock& detached) {
  SitesLock guard;
  if (sites == nullptr) return;
  if (!recorded_blocks.Add(detached)) {
    NoteFull();
    AddLive(detached.site, detached.size_bytes, -1);
  }
}

void ForgetCode() {
  SitesLock guard;
  ForgetFrameRows();
  node_index.Clear();
}

bool IsTimeToRecord() {
  const int64_t now_ns = CoarseTimeNs();
  if (now_ns < next_time_point_ns.load(std::memory_order_relaxed)) return false;
  return sites != nullptr;
}

void RecordTime(int64_t live_now_bytes) {
  const int64_t now_ns = CoarseTimeNs();
  ReadAllocatorBooks(live_now_bytes, now_ns);
  SitesLock guard;
  if (sites == nullptr) return;
  uint32_t count = sites->time_point_count.load(std::memory_order_relaxed);
  next_time_point_ns.store(now_ns + sites->time_resolution_ns.load());
  if (count == kMaxTimePoints) {
    HalveTimePoints();
    count = kMaxTimePoints / 2;
  }
  sites->time_points[count] = {now_ns, live_now_bytes, CurrentStage(), 0};
  sites->time_point_count.store(count + 1, std::memory_order_release);
}

}  // namespace footprint::profiling_internal
