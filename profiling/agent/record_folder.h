// Keeps the folder of records open as long as the program lives, whatever it
// does with its descriptors, its root or its limits.
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

// Opens the folder with this absolute path. Returns false if that fails.
bool OpenRecordFolder(const char* path);

// Returns the folder's descriptor. Opens it again if the program has closed it
// or reused its number; returns -1 if that fails.
int RecordFolder();

// Returns whether a file may have that size: growing it further would be a
// signal (SIGXFSZ), which ends the program.
bool FileMayHave(size_t size_bytes);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_AGENT_RECORD_FOLDER_H_
