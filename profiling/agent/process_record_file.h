// The file of a process's record, mapped: made, given back, and found again by
// children who have none of their own.
//
//   ProcessRecord* record = CreateProcessRecord(folder, getpid());
//   if (record == nullptr) CountLostImage(folder, getpid(), getppid());
//
// Lives in the preloaded agent: allocates nothing, takes no lock, and calls the
// kernel alone. Thread-safe. The caller owns a record until CloseProcessRecord
// unmaps it, or the process ends; descriptors of folders stay the caller's.
// Memory: a page or two a record.

#ifndef FOOTPRINT_PROFILING_AGENT_PROCESS_RECORD_FILE_H_
#define FOOTPRINT_PROFILING_AGENT_PROCESS_RECORD_FILE_H_

#include <sys/types.h>

#include <cstddef>

#include "footprint/profiling/records/process_record.h"

namespace footprint::profiling_internal {

// The record of the process's next image, in the folder of that descriptor, all
// zero but for the image's number. Null where there is no room for it: the disk
// is full, its files may not be that large, or the folder is out of reach.
ProcessRecord* CreateProcessRecord(int folder, pid_t process);

void CloseProcessRecord(ProcessRecord* record);

// A file of the folder, all zero, mapped. Null where there is no room for it,
// or it is there: then errno is EEXIST.
void* CreateMappedFile(int folder, const char* name, size_t size_bytes);

// Notes in a record that is there, of an earlier image of the process or else
// of its parent, that an image could not be measured. False: neither has one.
bool CountLostImage(int folder, pid_t process, pid_t parent);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_AGENT_PROCESS_RECORD_FILE_H_
