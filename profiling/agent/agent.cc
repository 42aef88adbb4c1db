// The start and the end of the preloaded agent. It opens the record of this
// process image, makes the counters publish to it, and completes it if the
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <new>

#include "footprint/base/machine/monotonic_time.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/threads/fork_handlers.h"
#include "footprint/profiling/agent/process_record_file.h"
#include "footprint/profiling/agent/record_folder.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/mapping_hooks.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/published_heap.h"
#include "footprint/profiling/heap/published_mappings.h"
#include "footprint/profiling/heap/sample_schedule.h"
#include "footprint/profiling/heap/thread_start.h"
#include "footprint/profiling/malloc/next_allocator.h"
#include "footprint/profiling/malloc/own_exports.h"
#include "footprint/profiling/python/python_interpreter.h"
#include "footprint/profiling/records/growth_record.h"
#include "footprint/profiling/records/process_record.h"
#include "footprint/profiling/records/record_file_name.h"
#include "footprint/profiling/records/stack_tallies_record.h"
#include "footprint/profiling/records/stage_record.h"
#include "footprint/profiling/samples/copy_volume.h"
#include "footprint/profiling/samples/processor_time.h"
#include "footprint/profiling/sites/call_sites.h"
#include "footprint/profiling/stages/file_stages.h"
#include "footprint/profiling/stages/import_stages.h"
#include "footprint/profiling/stages/stage_table.h"
#include "object_list.h"

namespace footprint::profiling_internal {
namespace {

ProcessRecord* record = nullptr;
PublishedMappings* mappings = nullptr;
// The process that owns the mappings. A vforked child that shares our memory
// until exec is another process.
pid_t own_process = 0;
// -1 if call sites are not recorded.
int64_t sampling_interval_bytes = -1;
bool children_are_recorded = true;
// -1 if there are no such samples.
int64_t processor_interval_ns = -1;
int64_t copy_interval_bytes = -1;
// Computed once, because in the child of a fork the dynamic loader may be
// locked.
bool has_foreign_new = false;
char allocator_name[sizeof(ProcessRecord::allocator)];

// Reads the first `capacity` bytes of a file, and returns their number.
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

// Returns whether new or delete is the program's own, so that it may return
// blocks that no entry point of the agent sees.
bool HasForeignNew() {
  for (const char* name : {"_Znwm", "_ZdlPv"}) {
    void* const function = dlsym(RTLD_DEFAULT, name);
    Dl_info found;
    if (function == nullptr || IsOfThisObject(function) ||
        dladdr(function, &found) == 0) {
      continue;
    }
    if (strstr(found.dli_fname, "libstdc++") == nullptr &&
        strstr(found.dli_fname, "libc++") == nullptr) {
      return true;
    }
  }
  return false;
}

void BeginSamples(int folder) {
  char name[kRecordFileNameCapacity];
  if (processor_interval_ns >= 0) {
    WriteRecordFileName(own_process, record->image, kProcessorTimeContent,
                        name);
    static const ThreadWrapper wrapper = {TimedThread, ForgetTimedThread};
    if (BeginProcessorTime(folder, name, processor_interval_ns)) {
      SetThreadWrapper(&wrapper);
    }
  }
  if (copy_interval_bytes >= 0) {
    WriteRecordFileName(own_process, record->image, kCopiesContent, name);
    BeginCopyVolume(folder, name, copy_interval_bytes);
  }
}

// Returns whether stacks are recorded, for any purpose.
bool HasStacks() {
  return record->has_sites != 0 || processor_interval_ns >= 0 ||
         copy_interval_bytes >= 0;
}

// Leaves out the resident set's parts if the record cannot be created.
void BeginMappingsRecord(int folder) {
  PublishMappings(nullptr);
  if (mappings != nullptr) {
    syscall(SYS_munmap, mappings, sizeof(PublishedMappings));
  }
  char name[kRecordFileNameCapacity];
  WriteRecordFileName(own_process, record->image, "mappings", name);
  mappings = static_cast<PublishedMappings*>(
      CreateMappedFile(folder, name, sizeof(PublishedMappings)));
  PublishMappings(mappings);
  ReportProgramMappings();
}

// Stops storing to a record, which may be the parent's.
void StopRecording() {
  record = nullptr;
  PublishHeap(nullptr);
  PublishMappings(nullptr);
  BeginSampling(-1);
  EndCallSites();
  BeginStages(/*folder=*/-1, "", nullptr);
  if (processor_interval_ns >= 0) {
    BeginProcessorTime(/*folder=*/-1, "", processor_interval_ns);
  }
  if (copy_interval_bytes >= 0) {
    BeginCopyVolume(/*folder=*/-1, "", copy_interval_bytes);
  }
}

void BeginRecord(bool is_fork) {
  own_process = getpid();
  const int folder = RecordFolder();
  record = CreateProcessRecord(folder, own_process);
  if (record == nullptr) {
    StopRecording();
    return;
  }
  // Describes the process.
  record->process_id = own_process;
  record->parent_process_id = getppid();
  record->is_fork = is_fork;
  record->begin_time_ns = MonotonicTimeNs();
  record->has_foreign_new = has_foreign_new;
  memcpy(record->allocator, allocator_name, sizeof(allocator_name));
  record->inherited_live_bytes = is_fork ? LiveHeapBytes() : 0;
  const ssize_t size = readlink("/proc/self/exe", record->executable,
                                sizeof(record->executable) - 1);
  record->executable[size < 0 ? 0 : size] = '\0';
  record->command_line_size = ReadStart(
      "/proc/self/cmdline", record->command_line, sizeof(record->command_line));
  // Starts the recorders, most of which have a file of their own.
  PublishHeap(&record->heap);
  BeginMappingsRecord(folder);
  if (sampling_interval_bytes >= 0) {
    char name[kRecordFileNameCapacity];
    WriteRecordFileName(own_process, record->image, "sites", name);
    record->has_sites =
        BeginCallSites(folder, name, sampling_interval_bytes) ? 1 : 0;
    WriteRecordFileName(own_process, record->image, kGrowthContent, name);
    BeginSiteGrowth(folder, name);
    BeginSampling(record->has_sites != 0 ? sampling_interval_bytes : -1);
  }
  if (HasPythonInterpreter()) {
    char name[kRecordFileNameCapacity];
    WriteRecordFileName(own_process, record->image, "python", name);
    BeginPythonRecord(folder, name, /*with_calls=*/HasStacks());
  }
  char stages_name[kRecordFileNameCapacity];
  WriteRecordFileName(own_process, record->image, "stages", stages_name);
  record->has_stages = BeginStages(folder, stages_name, &record->heap) ? 1 : 0;
  BeginSamples(folder);
  // The magic is stored last: a reader that sees it also sees everything above.
  __atomic_store_n(&record->magic, kRecordMagic, __ATOMIC_RELEASE);
}

void CompleteRecord(ProcessEnd end) {
  // In the child of a vfork, the record is the parent's.
  if (record == nullptr || getpid() != own_process) return;
  CompleteStages();
  AddRemainingProcessorTime();
  const HeapPhaseBytes bytes = ReadHeapPhase(ProcessHeapPhase());
#define FOOTPRINT_STORE(field, value, ...) record->field.store(value);
  FOOTPRINT_PROCESS_METRICS(FOOTPRINT_STORE)
#undef FOOTPRINT_STORE
  record->end_time_ns.store(MonotonicTimeNs());
  record->end.store(end);
}

// Returns -1 if the variable is not set.
int64_t ReadInterval(const char* variable) {
  const char* const interval = getenv(variable);
  return interval == nullptr ? -1 : strtoll(interval, nullptr, 10);
}

// Gives the child its own record. A child that finds no room for one is counted
// in its parent's, so that readers know that the figures are incomplete.
void AfterForkInChild() {
  ProcessRecord* const parents = record;
  PublishHeap(nullptr);
  RestartProcessHeapPhase();
  if (children_are_recorded) {
    BeginRecord(/*is_fork=*/true);
    if (record == nullptr && parents != nullptr) {
      parents->lost_child_count.fetch_add(1);
    }
  } else {
    StopRecording();
  }
  if (parents != nullptr) CloseProcessRecord(parents);
}

// Returns whether only the program is to be recorded and this is none of its
// images.
bool IsLeftOut() {
  const char* const process = getenv(kOnlyProcessVariable);
  children_are_recorded = process == nullptr;
  return process != nullptr && strtol(process, nullptr, 10) != getpid();
}

// Runs after the other constructors (101 to 103), so that their locks are free
// again when AfterForkInChild runs.
__attribute__((constructor(104))) void Begin() {
  const char* const path = getenv(kRecordFolderVariable);
  if (path == nullptr || IsLeftOut() || !OpenRecordFolder(path)) return;
  sampling_interval_bytes = ReadInterval(kSamplingIntervalVariable);
  processor_interval_ns = ReadInterval(kProcessorIntervalVariable);
  copy_interval_bytes = ReadInterval(kCopyIntervalVariable);
  FindHowToCountAgain();
  has_foreign_new = HasForeignNew() || !next_allocator.can_be_counted;
  WriteNextAllocatorName(allocator_name, sizeof(allocator_name));
  FindPythonInterpreter();
  BeginRecord(/*is_fork=*/false);
  if (record == nullptr) {
    CountLostImage(RecordFolder(), own_process, getppid());
  }
  const char* const stages = getenv(kStagesVariable);
  if (stages == nullptr || strcmp(stages, "named") != 0) {
    WatchFiles();
    WatchImports();
  }
  // Symbols that were not found are not the program's errors. The second call
  // frees the error's text.
  dlerror();
  dlerror();
  AddForkHandlers({nullptr, nullptr, nullptr, AfterForkInChild});
}

__attribute__((destructor(101))) void End() {
  CompleteRecord(ProcessEnd::kExit);
  if (record == nullptr || own_process != getpid()) return;
  char name[kRecordFileNameCapacity];
  WriteRecordFileName(own_process, record->image, "objects", name);
  WriteObjectList(RecordFolder(), name);
}

// Returns how many objects were unloaded so far.
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
  if (UnloadCount() != before) {
    ForgetCode();
    ForgetCodeOfProcessorTime();
    ForgetCodeOfCopyVolume();
  }
  return error;
}

// Returns whether this thread could take the counters' lock. It could not in a
// signal handler that interrupted it inside malloc, where it holds the lock.
bool CountersAreFree() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (process.lock.TryLock()) {
      process.lock.Unlock();
      return true;
    }
    const timespec moment = {0, 100'000};
    nanosleep(&moment, nullptr);
  }
  return false;
}

// Ends the process; the peak is there even if the record is not completed.
[[noreturn]] void EndAtOnce(int status) {
  if (CountersAreFree()) CompleteRecord(ProcessEnd::kAtOnce);
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

}  // namespace
}  // namespace footprint::profiling_internal

extern "C" {

// The counters' unwind tables name C++'s routine, whose library the agent must
// not load. No frame of the agent needs cleanup when an exception or the end of
// a thread passes it.
_Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action,
                                         _Unwind_Exception_Class,
                                         _Unwind_Exception*, _Unwind_Context*) {
  return _URC_CONTINUE_UNWIND;
}

// Newer headers of C++'s library make their own checks in unoptimised code, and
// call this function by its C++ name, std::__glibcxx_assert_fail.
[[noreturn]] void FootprintAssertFailed(
    const char*, int, const char*,
    const char*) asm("_ZSt21__glibcxx_assert_failPKciS0_S0_");
void FootprintAssertFailed(const char*, int, const char*, const char*) {
  __builtin_trap();
}

// Forgets the object's addresses, because another object may be loaded there.
int dlclose(void* object) noexcept {
  return footprint::profiling_internal::CloseObject(object);
}

// copy_entry_points.cc calls these two functions.
int64_t footprint_sample_copy(size_t size_bytes, const void* caller) {
  return footprint::profiling_internal::SampleCopy(size_bytes, caller);
}
int64_t footprint_next_copy_distance() {
  return footprint::profiling_internal::NextCopyDistance();
}

__attribute__((noreturn)) void _exit(int status) {
  footprint::profiling_internal::EndAtOnce(status);
}
__attribute__((noreturn)) void _Exit(int status) noexcept {
  footprint::profiling_internal::EndAtOnce(status);
}

}  // extern "C"
