#include "footprint/profiling/agent/process_record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "footprint/profiling/agent/record_folder.h"
#include "footprint/profiling/heap/system_mmap.h"
#include "footprint/profiling/records/record_file_name.h"
#include "footprint/profiling/sites/file_space.h"

namespace footprint::profiling_internal {
namespace {

constexpr int32_t kMaxImages = 10000;

void* Map(int file, size_t size_bytes) {
  void* const mapped = SystemMmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                                  MAP_SHARED, file, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

int Open(int folder, pid_t process, int32_t image) {
  char name[kRecordFileNameCapacity];
  WriteRecordFileName(process, image, "record", name);
  return openat(folder, name, O_RDWR | O_CLOEXEC);
}

// Maps the record of the process's last image. Returns null if it has none.
// Opens one file at a time, because the program may have used up its
// descriptors but for one.
ProcessRecord* MapLast(int folder, pid_t process) {
  int32_t images = 0;
  for (; images < kMaxImages; ++images) {
    const int file = Open(folder, process, images);
    if (file < 0) break;
    close(file);
  }
  const int last = images == 0 ? -1 : Open(folder, process, images - 1);
  if (last < 0) return nullptr;
  void* const mapped = Map(last, sizeof(ProcessRecord));
  close(last);
  return static_cast<ProcessRecord*>(mapped);
}

}  // namespace

void* CreateMappedFile(int folder, const char* name, size_t size_bytes) {
  if (!FileMayHave(size_bytes)) {
    errno = EFBIG;
    return nullptr;
  }
  const int file =
      openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  // The file gets its full size now, so that a full disk is met here and not by
  // the program.
  const int error = ReserveFileSpace(file, 0, size_bytes);
  void* const mapped = error == 0 ? Map(file, size_bytes) : nullptr;
  if (mapped == nullptr) unlinkat(folder, name, 0);
  close(file);
  if (mapped == nullptr) errno = error == 0 ? ENOMEM : error;
  return mapped;
}

ProcessRecord* CreateProcessRecord(int folder, pid_t process) {
  // The first number that no earlier image of the process has taken.
  for (int32_t image = 0; image < kMaxImages; ++image) {
    char name[kRecordFileNameCapacity];
    WriteRecordFileName(process, image, "record", name);
    auto* const record = static_cast<ProcessRecord*>(
        CreateMappedFile(folder, name, sizeof(ProcessRecord)));
    if (record != nullptr) record->image = image;
    if (record != nullptr || errno != EEXIST) return record;
  }
  return nullptr;
}

void CloseProcessRecord(ProcessRecord* record) {
  syscall(SYS_munmap, record, sizeof(ProcessRecord));
}

bool CountLostImage(int folder, pid_t process, pid_t parent) {
  ProcessRecord* record = MapLast(folder, process);
  if (record == nullptr) record = MapLast(folder, parent);
  if (record == nullptr) return false;
  record->lost_child_count.fetch_add(1);
  CloseProcessRecord(record);
  return true;
}

}  // namespace footprint::profiling_internal
