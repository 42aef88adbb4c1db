// Makes each data or model file that the program opens a stage until it is
// closed. The entry points call these functions around the program's calls.
//
//   WatchFiles();
//   FileWasOpened(open(path, O_RDONLY), path);
//   const int64_t visit = TakeFileVisit(file);
//   close(file);
//   EndVisit(StageKind::kFile, visit);
//
// Only regular files whose names tell their kind (data_file_kinds.h) and whose
// descriptors are below 4,096 are stages; a file that an import reads belongs
// to the import (stage_table.h). The program may close a file in a way that the
// agent does not see (dup2, close_range, node's own system call). Then the file
// stays a stage until its descriptor's number is used again, or the process
// ends. errno is preserved. The program owns its files: the agent examines a
// descriptor and never keeps it open.
//
// Thread-safe, also in signal handlers. If the stages stay locked for longer
// than about a millisecond, as in a fork, a file does not become a stage, or
// stays one. Memory: 32 KiB. Time: a test of the path; for data files also
// fstat and the time of a stage.

#ifndef FOOTPRINT_PROFILING_STAGES_FILE_STAGES_H_
#define FOOTPRINT_PROFILING_STAGES_FILE_STAGES_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Makes files stages from now on.
void WatchFiles();

// Begins a stage if `path` is a data file. A negative `file` is ignored.
void FileWasOpened(int file, const char* path);

// Returns the visit of the file's stage, which the caller must end. Returns 0
// if there is no such stage, or if MayEnterStages() is false; then the file
// stays a stage.
int64_t TakeFileVisit(int file);

}  // namespace footprint::profiling_internal

// Tested by stages_test.

#endif  // FOOTPRINT_PROFILING_STAGES_FILE_STAGES_H_
