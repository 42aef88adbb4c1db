// The folder of records, open for as long as the program lives, whatever it
// does with its descriptors, its root or its limits.
//
//   if (!OpenRecordFolder(getenv(kRecordFolderVariable))) return;
//   ...
//   const int file = openat(RecordFolder(), name, ...);
//
// Allocates nothing, and takes no lock: one thread at a time.

#ifndef FOOTPRINT_PROFILING_AGENT_RECORD_FOLDER_H_
#define FOOTPRINT_PROFILING_AGENT_RECORD_FOLDER_H_

#include <cstddef>

namespace footprint::profiling_internal {

// An absolute path. False: it cannot be opened.
bool OpenRecordFolder(const char* path);

// Its descriptor, opened anew where the program has closed it or made it
// another file's; -1: it cannot be.
int RecordFolder();

// Returns whether a file may have that size: growing it further would be a
// signal (SIGXFSZ), which ends the program.
bool FileMayHave(size_t size_bytes);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_AGENT_RECORD_FOLDER_H_
