// The start and the end of the preloaded agent: opens the record of this
// process image, has the counters publish to it, and completes it where the
// program ends in order.
//
// Nothing here allocates, throws or uses C++'s library: the agent stands in
// front of every other library of a program that was not made for it.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <new>

#include "footprint/base/memory/resident_bytes.h"
#include "footprint/profiling/agent/record_folder.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/published_allocator.h"
#include "footprint/profiling/heap/published_heap.h"
#include "footprint/profiling/heap/sample_schedule.h"
#include "footprint/profiling/python/python_interpreter.h"
#include "footprint/profiling/records/process_record.h"
#include "footprint/profiling/records/record_file_name.h"
#include "footprint/profiling/records/stage_record.h"
#include "footprint/profiling/sites/call_sites.h"
#include "footprint/profiling/stages/file_stages.h"
#include "footprint/profiling/stages/import_stages.h"
#include "footprint/profiling/stages/stage_table.h"

namespace footprint::profiling_internal {
namespace {

ProcessRecord* record = nullptr;
PublishedAllocator* allocator = nullptr;
// Of a process that shares our memory between vfork and exec, it is not ours.
pid_t own_process = 0;
// -1: call sites are not recorded.
int64_t sampling_interval_bytes = -1;
// Looked for once: in the child of a fork the dynamic loader may be locked.
bool has_foreign_new = false;

int64_t TimeNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

// The first `capacity` bytes of a file; their number.
int32_t ReadStart(const char* path, char* text, size_t capacity) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t size = 0;
  while (size < capacity) {
    const ssize_t count = read(file, text + size, capacity - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<size_t>(count);
  }
  close(file);
  return static_cast<int32_t>(size);
}

// A mapped file of its full size, so that a full disk is met here and not by
// the program. Null where there is none to be had.
void* MapFile(int file, size_t size_bytes) {
  if (!FileMayHave(size_bytes) ||
      posix_fallocate(file, 0, static_cast<off_t>(size_bytes)) != 0) {
    return nullptr;
  }
  // Not by mmap, which counts.
  void* const mapped = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
              file, 0));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

// The first number that no earlier image of the process has taken.
ProcessRecord* OpenRecord(pid_t process, int folder) {
  for (int32_t image = 0; image < 10000; ++image) {
    char name[kRecordFileNameCapacity];
    WriteRecordFileName(process, image, "record", name);
    const int file =
        openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return nullptr;
    auto* const opened =
        static_cast<ProcessRecord*>(MapFile(file, sizeof(ProcessRecord)));
    if (opened == nullptr) unlinkat(folder, name, 0);
    close(file);
    if (opened != nullptr) opened->image = image;
    return opened;
  }
  return nullptr;
}

// Whether new or delete is the program's own, or another allocator's.
bool HasForeignNew() {
  for (const char* name : {"_Znwm", "_ZdlPv"}) {
    void* const function = dlsym(RTLD_DEFAULT, name);
    Dl_info found;
    if (function == nullptr || dladdr(function, &found) == 0) continue;
    if (strstr(found.dli_fname, "libstdc++") == nullptr) return true;
  }
  return false;
}

// Without it, the resident set's parts are not told.
void BeginAllocatorRecord(int folder) {
  PublishAllocator(nullptr);
  if (allocator != nullptr) {
    syscall(SYS_munmap, allocator, sizeof(PublishedAllocator));
  }
  char name[kRecordFileNameCapacity];
  WriteRecordFileName(own_process, record->image, "allocator", name);
  const int file =
      openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  allocator = file < 0 ? nullptr
                       : static_cast<PublishedAllocator*>(
                             MapFile(file, sizeof(PublishedAllocator)));
  if (file >= 0) close(file);
  PublishAllocator(allocator);
}

void BeginRecord(bool is_fork) {
  own_process = getpid();
  const int folder = RecordFolder();
  record = OpenRecord(own_process, folder);
  if (record == nullptr) {
    PublishHeap(nullptr);
    PublishAllocator(nullptr);
    ForgetCallSites();
    return;
  }
  record->process_id = own_process;
  record->parent_process_id = getppid();
  record->is_fork = is_fork;
  record->begin_time_ns = TimeNs();
  record->has_foreign_new = has_foreign_new;
  record->inherited_live_bytes = is_fork ? LiveHeapBytes() : 0;
  const ssize_t size = readlink("/proc/self/exe", record->executable,
                                sizeof(record->executable) - 1);
  record->executable[size < 0 ? 0 : size] = '\0';
  record->command_line_size = ReadStart(
      "/proc/self/cmdline", record->command_line, sizeof(record->command_line));
  PublishHeap(&record->heap);
  BeginAllocatorRecord(folder);
  if (sampling_interval_bytes >= 0) {
    char name[kRecordFileNameCapacity];
    WriteRecordFileName(own_process, record->image, "sites", name);
    record->has_sites =
        BeginCallSites(folder, name, sampling_interval_bytes) ? 1 : 0;
    BeginSampling(record->has_sites != 0 ? sampling_interval_bytes : -1);
  }
  if (HasPythonInterpreter()) {
    char name[kRecordFileNameCapacity];
    WriteRecordFileName(own_process, record->image, "python", name);
    BeginPythonRecord(folder, name, /*with_calls=*/record->has_sites != 0);
  }
  char stages_name[kRecordFileNameCapacity];
  WriteRecordFileName(own_process, record->image, "stages", stages_name);
  record->has_stages = BeginStages(folder, stages_name, &record->heap) ? 1 : 0;
  // Last: who sees it sees all of the above.
  __atomic_store_n(&record->magic, kRecordMagic, __ATOMIC_RELEASE);
}

void CompleteRecord(ProcessEnd end) {
  // In the child of a vfork, all of this is the parent's.
  if (record == nullptr || getpid() != own_process) return;
  CompleteStages();
  const HeapPhaseBytes bytes = ReadHeapPhase(ProcessHeapPhase());
  record->live_bytes.store(LiveHeapBytes());
  record->allocated_bytes.store(bytes.allocated_bytes);
  record->allocation_count.store(bytes.allocation_count);
  record->sum_thread_peak_bytes.store(bytes.sum_thread_peak_net_bytes);
  record->peak_resident_bytes.store(ReadResidentBytes().peak_bytes);
  record->thread_count.store(bytes.active_thread_count);
  record->threads_may_overlap.store(bytes.threads_may_overlap ? 1 : 0);
  record->end_time_ns.store(TimeNs());
  record->end.store(end);
}

// The parent's record is the parent's.
void AfterForkInChild() {
  ProcessRecord* const of_parent = record;
  PublishHeap(nullptr);
  RestartProcessHeapPhase();
  BeginRecord(/*is_fork=*/true);
  if (of_parent == nullptr) return;
  if (record == nullptr) ++of_parent->lost_child_count;
  syscall(SYS_munmap, of_parent, sizeof(ProcessRecord));
}

// After the counters' handlers (101, 102), so that their locks are free again.
__attribute__((constructor(103))) void Begin() {
  const char* const path = getenv(kRecordFolderVariable);
  if (path == nullptr || !OpenRecordFolder(path)) return;
  const char* const interval = getenv(kSamplingIntervalVariable);
  if (interval != nullptr) {
    sampling_interval_bytes = strtoll(interval, nullptr, 10);
  }
  has_foreign_new = HasForeignNew();
  FindPythonInterpreter();
  BeginRecord(/*is_fork=*/false);
  const char* const stages = getenv(kStagesVariable);
  if (stages == nullptr || strcmp(stages, "named") != 0) {
    WatchFiles();
    WatchImports();
  }
  // What was looked for in vain is no error of the program's. The second call
  // gives its text back.
  dlerror();
  dlerror();
  pthread_atfork(nullptr, nullptr, AfterForkInChild);
}

__attribute__((destructor(101))) void End() {
  CompleteRecord(ProcessEnd::kExit);
}

// How many objects were unloaded so far.
uint64_t UnloadCount() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

int CloseObject(void* object) {
  const auto next =
      reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  const uint64_t before = UnloadCount();
  const int error = next(object);
  if (UnloadCount() != before) ForgetCode();
  return error;
}

// Whether this thread could take the counters' lock: a signal handler may have
// interrupted it inside malloc, where it holds it.
bool CountersAreFree() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (pthread_mutex_trylock(&process.lock) == 0) {
      pthread_mutex_unlock(&process.lock);
      return true;
    }
    const timespec moment = {0, 100'000};
    nanosleep(&moment, nullptr);
  }
  return false;
}

// Of a record that is not completed, the peak is there all the same.
[[noreturn]] void EndAtOnce(int status) {
  if (CountersAreFree()) CompleteRecord(ProcessEnd::kAtOnce);
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

}  // namespace
}  // namespace footprint::profiling_internal

extern "C" {

// The counters' unwind tables name C++'s routine, whose library the agent must
// not bring along. No frame of the agent has anything to do when an exception
// or the end of a thread passes it.
_Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action,
                                         _Unwind_Exception_Class,
                                         _Unwind_Exception*, _Unwind_Context*) {
  return _URC_CONTINUE_UNWIND;
}

// What lay there may be another's next.
int dlclose(void* object) noexcept {
  return footprint::profiling_internal::CloseObject(object);
}

__attribute__((noreturn)) void _exit(int status) {
  footprint::profiling_internal::EndAtOnce(status);
}
__attribute__((noreturn)) void _Exit(int status) noexcept {
  footprint::profiling_internal::EndAtOnce(status);
}

}  // extern "C"
