// Keeps the folder of records open as long as the program lives, even if the
// program closes its descriptors, changes its root or lowers its limits.
//
//   if (!OpenRecordFolder(getenv(kRecordFolderVariable))) return;
//   ...
//   const int file = openat(RecordFolder(), name, ...);
//
// Allocates nothing, and takes no lock: only one thread may call it at a time.

#ifndef FOOTPRINT_PROFILING_AGENT_RECORD_FOLDER_H_
#define FOOTPRINT_PROFILING_AGENT_RECORD_FOLDER_H_

#include <cstddef>

namespace footprint::profiling_internal {

// Opens the folder with this absolute path, which must not be null. Returns
// false if that fails.
bool OpenRecordFolder(const char* path);

// Returns the folder's descriptor. Opens it again if the program has closed it
// or reused its number; returns -1 if that fails or finds another folder.
int RecordFolder();

// Returns whether the limit of file sizes (RLIMIT_FSIZE) allows this size.
// Growing a file beyond the limit raises SIGXFSZ, which ends the program.
bool FileMayHave(size_t size_bytes);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_AGENT_RECORD_FOLDER_H_
