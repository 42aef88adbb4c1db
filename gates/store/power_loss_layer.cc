#include "footprint/gates/store/power_loss_layer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "footprint/base/random/random_sequence.h"
#include "sqlite3.h"

namespace footprint {
namespace {

constexpr char kLayerName[] = "footprint_power_loss";
constexpr size_t kSectorBytes = 512;

// The disk of the registered layer; there is one at a time.
struct Disk {
  sqlite3_vfs layer = {};
  sqlite3_vfs* system = nullptr;
  int64_t failing_operation = 0;
  int64_t operation_count = 0;
  std::atomic<bool> is_full = false;
  // The flushed bytes of each file, by path.
  std::map<std::string, std::string> flushed;

  // Counts a change. Returns whether the power is still on.
  bool Count() { return ++operation_count < failing_operation; }
};

Disk* g_disk = nullptr;

// The layout that SQLite allocates: the system's file follows.
struct LayerFile {
  sqlite3_file base;
  const char* path;  // SQLite keeps the text while the file is open
};

sqlite3_file* SystemFile(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<LayerFile*>(file) +
                                         1);
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int Close(sqlite3_file* file) {
  return SystemFile(file)->pMethods->xClose(SystemFile(file));
}

int Read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 at) {
  return SystemFile(file)->pMethods->xRead(SystemFile(file), bytes, size, at);
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  if (g_disk->is_full) return SQLITE_FULL;
  const bool has_power = g_disk->Count();
  const bool is_the_failing_one =
      g_disk->operation_count == g_disk->failing_operation;
  if (!has_power && !is_the_failing_one) return SQLITE_IOERR_WRITE;
  // The write during which the power fails is torn.
  const int result = SystemFile(file)->pMethods->xWrite(
      SystemFile(file), bytes, has_power ? size : size / 2, at);
  return has_power ? result : SQLITE_IOERR_WRITE;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (!g_disk->Count()) return SQLITE_IOERR_TRUNCATE;
  return SystemFile(file)->pMethods->xTruncate(SystemFile(file), size);
}

int Sync(sqlite3_file* file, int flags) {
  if (!g_disk->Count()) return SQLITE_IOERR_FSYNC;
  const int result = SystemFile(file)->pMethods->xSync(SystemFile(file), flags);
  const char* path = reinterpret_cast<LayerFile*>(file)->path;
  if (path != nullptr) g_disk->flushed[path] = ReadBytes(path);
  return result;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return SystemFile(file)->pMethods->xFileSize(SystemFile(file), size);
}

int Lock(sqlite3_file* file, int level) {
  return SystemFile(file)->pMethods->xLock(SystemFile(file), level);
}

int Unlock(sqlite3_file* file, int level) {
  return SystemFile(file)->pMethods->xUnlock(SystemFile(file), level);
}

int CheckReservedLock(sqlite3_file* file, int* is_reserved) {
  return SystemFile(file)->pMethods->xCheckReservedLock(SystemFile(file),
                                                        is_reserved);
}

int FileControl(sqlite3_file* file, int operation, void* argument) {
  return SystemFile(file)->pMethods->xFileControl(SystemFile(file), operation,
                                                  argument);
}

int SectorSize(sqlite3_file* file) {
  return SystemFile(file)->pMethods->xSectorSize(SystemFile(file));
}

int DeviceCharacteristics(sqlite3_file* file) {
  return SystemFile(file)->pMethods->xDeviceCharacteristics(SystemFile(file));
}

int ShmMap(sqlite3_file* file, int region, int size, int extends,
           void volatile** mapped) {
  return SystemFile(file)->pMethods->xShmMap(SystemFile(file), region, size,
                                             extends, mapped);
}

int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return SystemFile(file)->pMethods->xShmLock(SystemFile(file), offset, count,
                                              flags);
}

void ShmBarrier(sqlite3_file* file) {
  SystemFile(file)->pMethods->xShmBarrier(SystemFile(file));
}

int ShmUnmap(sqlite3_file* file, int deletes) {
  return SystemFile(file)->pMethods->xShmUnmap(SystemFile(file), deletes);
}

// Version 2 of the methods has the shared memory of the log, but no
// memory-mapped reads.
constexpr sqlite3_io_methods kMethods = {2,
                                         Close,
                                         Read,
                                         Write,
                                         Truncate,
                                         Sync,
                                         FileSize,
                                         Lock,
                                         Unlock,
                                         CheckReservedLock,
                                         FileControl,
                                         SectorSize,
                                         DeviceCharacteristics,
                                         ShmMap,
                                         ShmLock,
                                         ShmBarrier,
                                         ShmUnmap,
                                         nullptr,
                                         nullptr};

int OpenFile(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags,
             int* flags_out) {
  auto* opened = reinterpret_cast<LayerFile*>(file);
  opened->base.pMethods = nullptr;
  opened->path = path;
  const int result = g_disk->system->xOpen(g_disk->system, path,
                                           SystemFile(file), flags, flags_out);
  if (SystemFile(file)->pMethods != nullptr) opened->base.pMethods = &kMethods;
  // A new file survives the loss, since SQLite flushes the folder with the
  // first sync.
  if (result == SQLITE_OK && path != nullptr) {
    g_disk->flushed.emplace(path, ReadBytes(path));
  }
  return result;
}

int DeleteFile(sqlite3_vfs*, const char* path, int flushes_folder) {
  if (!g_disk->Count()) return SQLITE_IOERR_DELETE;
  g_disk->flushed.erase(path);
  return g_disk->system->xDelete(g_disk->system, path, flushes_folder);
}

// Returns the bytes after the loss: each sector that differs is old or new.
std::string AfterTheLoss(const std::string& flushed, const std::string& written,
                         RandomSequence* random) {
  const size_t size = random->Below(2) == 0 ? flushed.size() : written.size();
  std::string bytes(size, '\0');
  for (size_t at = 0; at < size; at += kSectorBytes) {
    const std::string& source = random->Below(2) == 0 ? flushed : written;
    const std::string& other = &source == &flushed ? written : flushed;
    const std::string& taken = at < source.size() ? source : other;
    const size_t end = std::min({at + kSectorBytes, size, taken.size()});
    if (at < end) taken.copy(&bytes[at], end - at, at);
  }
  return bytes;
}

}  // namespace

struct PowerLossLayer::State {
  Disk disk;
};

PowerLossLayer::PowerLossLayer(int64_t operation)
    : state_(std::make_unique<State>()) {
  if (g_disk != nullptr) std::abort();
  g_disk = &state_->disk;
  g_disk->failing_operation = operation;
  g_disk->system = sqlite3_vfs_find(nullptr);
  g_disk->layer = *g_disk->system;
  g_disk->layer.zName = kLayerName;
  g_disk->layer.pNext = nullptr;
  g_disk->layer.szOsFile += static_cast<int>(sizeof(LayerFile));
  g_disk->layer.xOpen = OpenFile;
  g_disk->layer.xDelete = DeleteFile;
  sqlite3_vfs_register(&g_disk->layer, /*makeDflt=*/0);
}

PowerLossLayer::~PowerLossLayer() {
  sqlite3_vfs_unregister(&g_disk->layer);
  g_disk = nullptr;
}

const char* PowerLossLayer::name() const { return kLayerName; }

int64_t PowerLossLayer::operation_count() const {
  return state_->disk.operation_count;
}

void PowerLossLayer::SetFull(bool is_full) { state_->disk.is_full = is_full; }

void PowerLossLayer::LosePower(uint64_t seed) {
  RandomSequence random(seed);
  for (const auto& [path, flushed] : g_disk->flushed) {
    if (access(path.c_str(), F_OK) != 0) continue;
    const std::string bytes = AfterTheLoss(flushed, ReadBytes(path), &random);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    // The connections' shared memory is lost too.
    unlink((path + "-shm").c_str());
  }
}

}  // namespace footprint
