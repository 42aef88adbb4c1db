// A store that maps the file; the system reads the pages that are touched. Only
// a few windows of the file stay mapped. Views stay valid: a page that was
// given back returns from the page cache at the next touch. Copies are read
// with pread, since to touch a few bytes of a row would map a whole window.
//
// Touching a page that the file no longer has raises SIGBUS, which may happen
// in the middle of a kernel. The first store of this kind installs a handler.
// For an address in a store's mapping it maps a page of zeros there and marks
// the store, which from then on reports that the file was shortened. The
// handler passes every other SIGBUS to the one before it.

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/weight_backends.h"

namespace footprint::lowmem_internal {
namespace {

// The bytes that the system maps at one fault if the page cache holds a large
// folio.
constexpr int64_t kWindowBytes = 2 << 20;
// Two workers that read the three attention matrices of a layer touch six
// windows. Giving pages back costs microseconds, so it does not happen after
// each tile.
constexpr int kMostWindows = 8;

// The handler's record of one store. `end` is above zero while the entry is in
// use.
struct GuardedMapping {
  std::atomic<bool> claimed{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> touched_beyond_file{false};
};

constexpr int kGuardedMappings = 64;
GuardedMapping guarded_mappings[kGuardedMappings];
struct sigaction action_before;
// The system's page size, which may be larger than kPageBytes.
uintptr_t page_bytes = 0;

// Uses only atomics and system calls, because a signal may interrupt anything.
void HandleBusError(int signal, siginfo_t* information, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(information->si_addr);
  for (GuardedMapping& mapping : guarded_mappings) {
    if (address < mapping.begin.load() || address >= mapping.end.load())
      continue;
    mapping.touched_beyond_file.store(true);
    void* page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
    if (mmap(page, page_bytes, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
      return;
    }
  }
  if ((action_before.sa_flags & SA_SIGINFO) != 0) {
    action_before.sa_sigaction(signal, information, context);
  } else if (action_before.sa_handler == SIG_DFL ||
             action_before.sa_handler == SIG_IGN) {
    // The faulting instruction runs again and then ends the process.
    sigaction(SIGBUS, &action_before, nullptr);
  } else {
    action_before.sa_handler(signal);
  }
}

bool InstallHandler() {
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = HandleBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, &action, &action_before) == 0;
}

GuardedMapping* ClaimGuard() {
  static const bool installed = InstallHandler();
  if (!installed) return nullptr;
  for (GuardedMapping& mapping : guarded_mappings) {
    bool expected = false;
    if (mapping.claimed.compare_exchange_strong(expected, true))
      return &mapping;
  }
  return nullptr;
}

class MmapStore final : public FileStore {
 public:
  explicit MmapStore(WeightFile file) : FileStore(std::move(file)) {}

  ~MmapStore() override {
    if (guard_ != nullptr) {
      guard_->end.store(0);
      guard_->touched_beyond_file.store(false);
      guard_->claimed.store(false);
    }
    if (image_ != nullptr) munmap(image_, MappedBytes());
  }

  absl::Status Map() {
    guard_ = ClaimGuard();
    if (guard_ == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat(
          file_.name(), ": at most ", kGuardedMappings,
          " files are mapped at a time; close one or use another backend"));
    }
    void* mapping = mmap(nullptr, MappedBytes(), PROT_READ, MAP_SHARED,
                         file_.descriptor(), 0);
    if (mapping == MAP_FAILED) {
      return FileError(errno, file_.name(), "cannot be mapped");
    }
    image_ = static_cast<char*>(mapping);
    // With huge pages, data that is not in the page cache yet arrives in large
    // folios if the file system supports them. A large folio is mapped by one
    // fault and translated by one TLB entry; with few tokens, faults or TLB
    // misses would cost more than the products. MADV_RANDOM stops the kernel
    // from reading ahead beyond a window: it would do so in small folios, and a
    // window that contains one can no longer have a large one.
    if (madvise(image_, MappedBytes(), MADV_HUGEPAGE) == 0) {
      madvise(image_, MappedBytes(), MADV_RANDOM);
      has_large_pieces_ = true;
    }
    const auto begin = reinterpret_cast<uintptr_t>(mapping);
    guard_->begin.store(begin);
    guard_->end.store(begin + MappedBytes());
    return absl::OkStatus();
  }

  WeightBackend backend() const override { return WeightBackend::kMmap; }
  std::string Description() const override { return "mmap: mapped pages"; }

  absl::Status Read(const Tile& tile, void* destination) override {
    absl::Status status = CheckTile(tile);
    if (status.ok()) status = CheckFile();
    if (!status.ok()) return status;
    if (has_large_pieces_ && IsOfSmallTensor(tile)) TouchWindows(tile);
    return ReadRows(tile, destination);
  }

  int64_t SlotBytes(const Tile& tile) const override {
    return IsAlignedInPlace(tile) ? 0 : tile.size_bytes();
  }

  absl::StatusOr<TileView> Load(const Tile& tile, void* slot) override {
    absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const int64_t begin = NowNanoseconds();
    NoteTouched(tile);
    absl::StatusOr<TileView> view = ViewOrCopy(tile, image_, slot);
    status = CheckFile();
    if (!status.ok()) return status;
    if (view.ok()) counters_.Add(tile.size_bytes(), 0, 0, begin);
    return view;
  }

  absl::Status CheckFile() const override {
    if (guard_->touched_beyond_file.load()) {
      return absl::FailedPreconditionError(absl::StrCat(
          file_.name(), ": was shortened while it was in use; open it again"));
    }
    return file_.CheckUnchanged();
  }

 private:
  // Returns whether the tile belongs to a small tensor, such as a bias or a
  // gain. Those lie among matrices that will be viewed. A row of a large table
  // does not: nothing around it is needed.
  bool IsOfSmallTensor(const Tile& tile) const {
    const absl::Span<const TensorInfo> tensors = index().tensors();
    const auto behind =
        std::upper_bound(tensors.begin(), tensors.end(), tile.offset_bytes,
                         [](int64_t offset_bytes, const TensorInfo& tensor) {
                           return offset_bytes < tensor.offset_bytes;
                         });
    return behind != tensors.begin() &&
           std::prev(behind)->size_bytes <= kWindowBytes;
  }

  // Touches the tile's windows before a small read. The read alone would put a
  // small folio into the page cache, and the matrices beside it need large
  // ones.
  void TouchWindows(const Tile& tile) {
    if (tile.size_bytes() == 0) return;
    NoteTouched(tile);
    const volatile char* const first = image_ + tile.offset_bytes;
    static_cast<void>(*first);
    static_cast<void>(first[tile.extent_bytes() - 1]);
  }

  // Must be called before the tile is used. Unmaps everything if this tile
  // would exceed kMostWindows.
  void NoteTouched(const Tile& tile) {
    if (tile.size_bytes() == 0) return;
    const int64_t last =
        (tile.offset_bytes + tile.extent_bytes() - 1) / kWindowBytes;
    const int64_t first =
        std::max(tile.offset_bytes / kWindowBytes, last - (kMostWindows - 1));
    MutexLock lock(&mutex_);
    for (int64_t window = first; window <= last; ++window) {
      const auto end = windows_.begin() + window_count_;
      if (std::find(windows_.begin(), end, window) != end) continue;
      if (window_count_ == kMostWindows) {
        // This also unmaps pages that other threads use; their next touch maps
        // them again.
        madvise(image_, MappedBytes(), MADV_DONTNEED);
        window_count_ = 0;
      }
      windows_[window_count_++] = window;
    }
  }

  GuardedMapping* guard_ = nullptr;
  char* image_ = nullptr;
  bool has_large_pieces_ = false;
  Mutex mutex_;
  // Windows that were touched since pages were last given back.
  std::array<int64_t, kMostWindows> windows_ ABSL_GUARDED_BY(mutex_) = {};
  int window_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenMmap(WeightFile file) {
  auto store = std::make_unique<MmapStore>(std::move(file));
  absl::Status mapped = store->Map();
  if (!mapped.ok()) return mapped;
  return store;
}

}  // namespace footprint::lowmem_internal
