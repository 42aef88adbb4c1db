// A store that reads whole blocks of the disk with O_DIRECT, which bypasses the
// page cache.

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/lowmem/weights/direct_read.h"
#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/weight_backends.h"

namespace footprint::lowmem_internal {
namespace {

// The bounce buffer is on the stack of the reading thread, so it is small.
constexpr int64_t kBounceBytes = 4 * kPageBytes;
// Reads of at least this size use the destination's own pages instead of the
// bounce buffer.
constexpr int64_t kLongBytes = 16 * kPageBytes;

class DirectStore final : public FileStore {
 public:
  DirectStore(WeightFile file, FileDescriptor direct, int64_t block_bytes,
              std::string description)
      : FileStore(std::move(file)),
        direct_(std::move(direct)),
        block_bytes_(block_bytes),
        description_(std::move(description)) {}

  WeightBackend backend() const override { return WeightBackend::kDirect; }
  std::string Description() const override { return description_; }
  int direct_descriptor() const override { return direct_.get(); }
  int64_t direct_block_bytes() const override { return block_bytes_; }

  absl::Status Read(const Tile& tile, void* destination) override {
    absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const int64_t begin = NowNanoseconds();
    Progress progress;
    if (tile.contiguous()) {
      status = ReadRun(tile.offset_bytes, tile.size_bytes(),
                       static_cast<char*>(destination), &progress);
    } else {
      for (int32_t row = 0; row < tile.rows && status.ok(); ++row) {
        status = ReadRun(
            tile.offset_bytes + row * tile.row_stride_bytes, tile.row_bytes,
            static_cast<char*>(destination) + row * int64_t{tile.row_bytes},
            &progress);
      }
    }
    return Finish(tile, status, progress, begin);
  }

  int64_t SlotBytes(const Tile& tile) const override {
    return DirectSlotBytes(tile, block_bytes_);
  }
  int64_t SlotAlignmentBytes() const override { return kPageBytes; }

  absl::StatusOr<TileView> Load(const Tile& tile, void* slot) override {
    absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const int64_t begin = NowNanoseconds();
    Progress progress;
    for (int32_t run = 0; run < DirectRuns(tile) && status.ok(); ++run) {
      const DirectRun part = MakeDirectRun(tile, run, block_bytes_);
      status = ReadDirect(part, static_cast<char*>(slot) + part.slot_offset,
                          &progress);
    }
    status = Finish(tile, status, progress, begin);
    if (!status.ok()) return status;
    return ArrangeDirectTile(tile, block_bytes_, static_cast<char*>(slot));
  }

 private:
  struct Progress {
    int64_t bytes_read = 0;
    int64_t reads = 0;
  };

  absl::Status Finish(const Tile& tile, absl::Status status,
                      const Progress& progress, int64_t begin) {
    if (status.ok()) status = file_.CheckUnchanged();
    if (!status.ok()) return status;
    WeightCounters more;
    more.bytes_delivered = tile.size_bytes();
    more.bytes_read = progress.bytes_read;
    more.bytes_around_rows = BytesAroundRows(tile, progress.bytes_read);
    more.reads = progress.reads;
    more.wait_nanoseconds = NowNanoseconds() - begin;
    counters_.Add(more);
    return absl::OkStatus();
  }

  // Reads the whole blocks that contain the run. The file may end within the
  // last one.
  absl::Status ReadDirect(const DirectRun& run, char* destination,
                          Progress* progress) {
    int64_t done = 0;
    while (done < run.needed_bytes) {
      const ssize_t count = pread(direct_.get(), destination + done,
                                  static_cast<size_t>(run.read_bytes - done),
                                  run.offset_bytes + done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        return FileError(
            errno, file_.name(),
            absl::StrCat("cannot read at byte ", run.offset_bytes));
      }
      progress->bytes_read += count;
      ++progress->reads;
      if (done + count >= run.needed_bytes) break;
      // The next read must begin at a block, so the block in which a short read
      // ended is read again.
      const int64_t blocks_bytes = count / block_bytes_ * block_bytes_;
      if (blocks_bytes == 0) {
        return file_.ShortenedError(run.offset_bytes + done + count);
      }
      done += blocks_bytes;
    }
    return absl::OkStatus();
  }

  // Reads any range to any address, while a direct read needs an aligned offset
  // and an aligned address. Of a long range, as much as the whole pages within
  // the destination can hold is read into them and then moved to its place. The
  // rest goes through the bounce buffer.
  absl::Status ReadRun(int64_t offset, int64_t size, char* destination,
                       Progress* progress) {
    alignas(kPageBytes) char bounce[kBounceBytes];
    while (size > 0) {
      char* pages = bounce;
      int64_t pages_bytes = kBounceBytes;
      if (size >= kLongBytes) {
        const auto address = reinterpret_cast<uintptr_t>(destination);
        const int64_t skipped =
            static_cast<int64_t>(-address % uintptr_t{kPageBytes});
        pages = destination + skipped;
        pages_bytes = (size - skipped) / kPageBytes * kPageBytes;
      }
      // The read begins at the block that contains the first byte.
      const int64_t lead = offset % block_bytes_;
      DirectRun part;
      part.offset_bytes = offset - lead;
      const int64_t count = std::min(size, pages_bytes - lead);
      part.needed_bytes = lead + count;
      part.read_bytes = AlignUp(part.needed_bytes, block_bytes_);
      absl::Status status = ReadDirect(part, pages, progress);
      if (!status.ok()) return status;
      memmove(destination, pages + lead, static_cast<size_t>(count));
      destination += count;
      offset += count;
      size -= count;
    }
    return absl::OkStatus();
  }

  FileDescriptor direct_;
  int64_t block_bytes_;
  std::string description_;
};

// Returns the alignment that direct reads of the file need. Returns a page, the
// largest that is supported, if the kernel reports no smaller one; before Linux
// 6.1 it reports none.
int64_t FindBlockBytes(int descriptor) {
#ifdef STATX_DIOALIGN
  struct statx status;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 &&
      (status.stx_mask & STATX_DIOALIGN) != 0) {
    const int64_t bytes =
        std::max(status.stx_dio_offset_align, status.stx_dio_mem_align);
    const bool is_power_of_two = bytes > 0 && (bytes & (bytes - 1)) == 0;
    if (is_power_of_two && bytes < kPageBytes) return bytes;
  }
#endif
  return kPageBytes;
}

// Opens the same file again for direct reads. Returns Unimplemented, with the
// system's reason, if the file system refuses them.
absl::StatusOr<FileDescriptor> OpenPastCache(const WeightFile& file) {
  FileDescriptor direct(
      open(file.name().c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
  if (!direct.is_open()) return absl::UnimplementedError(strerror(errno));
  struct stat now, opened;
  if (fstat(direct.get(), &now) != 0 ||
      fstat(file.descriptor(), &opened) != 0) {
    return FileError(errno, file.name(), "no status");
  }
  // By now the path may lead to another file.
  if (now.st_ino != opened.st_ino || now.st_dev != opened.st_dev) {
    return absl::FailedPreconditionError(absl::StrCat(
        file.name(), ": was replaced while it was opened; open it again"));
  }
  // Some file systems accept O_DIRECT in open and refuse the first read.
  alignas(kPageBytes) char page[kPageBytes];
  if (pread(direct.get(), page, sizeof(page), 0) < 0) {
    return absl::UnimplementedError(strerror(errno));
  }
  return direct;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenDirect(WeightFile file) {
  absl::StatusOr<FileDescriptor> direct = OpenPastCache(file);
  std::string description = "direct: O_DIRECT";
  if (absl::IsUnimplemented(direct.status())) {
    description = absl::StrCat("direct: O_DIRECT was refused here (",
                               direct.status().message(),
                               "), so reads go through the page cache, which "
                               "is charged to the cgroup");
    direct = FileDescriptor(dup(file.descriptor()));
    if (!direct->is_open()) {
      return FileError(errno, file.name(), "cannot be opened twice");
    }
  }
  if (!direct.ok()) return direct.status();
  const int64_t block_bytes = FindBlockBytes(direct->get());
  return std::make_unique<DirectStore>(std::move(file), *std::move(direct),
                                       block_bytes, std::move(description));
}

}  // namespace footprint::lowmem_internal
