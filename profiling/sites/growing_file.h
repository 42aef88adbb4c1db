// A mapped sparse file of arrays that grow. It reserves space on the disk
// before the program writes to it, so that a full disk is an error here and not
// a signal in the program.
//
//   GrowingFile file;
//   auto* sites = static_cast<SiteFile*>(
//       file.Create(folder, "1234.0.sites", sizeof(SiteFile), head_bytes));
//   GrowingArray nodes(&file, offsetof(SiteFile, nodes), sizeof(Node), 4096);
//   if (nodes.Reach(number)) sites->nodes[number] = ...;
//
// The file owns its mapping until Close; without Close the mapping stays until
// the process ends. A GrowingArray refers to its file, which must outlive it.
// Works inside malloc: it only makes system calls. Thread-compatible, except
// that several threads and signal handlers may call Reach at once. Memory: the
// pages that were written to, which the kernel shares with the file.

#ifndef FOOTPRINT_PROFILING_SITES_GROWING_FILE_H_
#define FOOTPRINT_PROFILING_SITES_GROWING_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

class GrowingFile {
 public:
  constexpr GrowingFile() = default;
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // Creates and maps a file of that size, with space reserved for the first
  // `head_bytes`. Returns null if that fails (the file exists, the disk is
  // full, file sizes are limited). `folder` is a descriptor.
  void* Create(int folder, const char* name, size_t size_bytes,
               size_t head_bytes);
  // Unmaps the file; what was written stays on the disk.
  void Close();

 private:
  void Remove(int folder, const char* name);
  friend class GrowingArray;

  // Returns whether the descriptor is still this file's. The program may have
  // closed it and opened another file with its number.
  bool HasDescriptor() const;
  bool TakeSpace(size_t offset_bytes, size_t size_bytes);

  void* mapped_ = nullptr;
  size_t size_bytes_ = 0;
  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

class GrowingArray {
 public:
  constexpr GrowingArray() = default;
  GrowingArray(GrowingFile* file, size_t offset_bytes, size_t entry_bytes,
               uint32_t capacity)
      : file_(file),
        offset_bytes_(offset_bytes),
        entry_bytes_(entry_bytes),
        capacity_(capacity) {}

  // Reserves space for the entry of that index. Returns false if the array or
  // the disk is full.
  bool Reach(uint32_t index) {
    if (index >= capacity_) return false;
    const size_t wanted_bytes = (index + size_t{1}) * entry_bytes_;
    return wanted_bytes <= __atomic_load_n(&taken_bytes_, __ATOMIC_RELAXED) ||
           Take(wanted_bytes);
  }

 private:
  bool Take(size_t wanted_bytes);

  GrowingFile* file_ = nullptr;
  size_t offset_bytes_ = 0;
  size_t entry_bytes_ = 0;
  uint32_t capacity_ = 0;
  size_t taken_bytes_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_GROWING_FILE_H_
