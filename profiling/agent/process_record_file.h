// Creates, maps and unmaps the file of a process's record. A process image for
// which no record can be created is counted in an earlier record.
//
//   ProcessRecord* record = CreateProcessRecord(folder, getpid());
//   if (record == nullptr) CountLostImage(folder, getpid(), getppid());
//
// Runs in the preloaded agent: it allocates nothing, takes no lock, and only
// makes system calls. Thread-safe. The caller owns a record until
// CloseProcessRecord unmaps it, or the process ends; the caller also owns
// descriptors of folders. Memory: a page or two a record.

#ifndef FOOTPRINT_PROFILING_AGENT_PROCESS_RECORD_FILE_H_
#define FOOTPRINT_PROFILING_AGENT_PROCESS_RECORD_FILE_H_

#include <sys/types.h>

#include <cstddef>

#include "footprint/profiling/records/process_record.h"

namespace footprint::profiling_internal {

// Creates the record of the process's next image, in the folder with this
// descriptor. All of it is zero except the image's number. Returns null if
// there is no room for it: the disk is full, the limit of file sizes is lower,
// the folder cannot be reached, or the process had 10,000 images.
ProcessRecord* CreateProcessRecord(int folder, pid_t process);

// Unmaps the record. The file stays.
void CloseProcessRecord(ProcessRecord* record);

// Creates and maps a file of the folder, all zero. Returns null if there is no
// room for it, or if it exists; then errno is EEXIST.
void* CreateMappedFile(int folder, const char* name, size_t size_bytes);

// Counts an image that could not be measured. The count is in the record of the
// process's last image or, if there is none, of its parent's. Returns false if
// neither has a record.
bool CountLostImage(int folder, pid_t process, pid_t parent);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_AGENT_PROCESS_RECORD_FILE_H_
