// Each data or model file that the program opens is a stage, until it is
// closed: these are what the entry points call around the program's calls.
//
//   WatchFiles();
//   FileWasOpened(open(path, O_RDONLY), path);
//   const int64_t visit = TakeFileVisit(file);
//   close(file);
//   EndVisit(StageKind::kFile, visit);
//
// Only regular files whose names tell their kind (data_file_kinds.h). A file
// that is closed in a way that is not seen (dup2, close_range, node's own
// system call) is a stage until its number is used again, or the process ends.
// errno stays as it is. The program owns its files: a descriptor is looked at
// and never kept open.
//
// Thread-safe, also in signal handlers: where the stages are busy for longer
// than a millisecond or so, as in a fork, a file is no stage, or stays one.
// Memory: 32 KiB. Time: a look at the path; of data files the stage's own, and
// fstat.

#ifndef FOOTPRINT_PROFILING_STAGES_FILE_STAGES_H_
#define FOOTPRINT_PROFILING_STAGES_FILE_STAGES_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Makes files stages from now on.
void WatchFiles();

// Nothing where `file` is negative.
void FileWasOpened(int file, const char* path);

// The visit of the file's stage, which is its caller's to end; 0: none.
int64_t TakeFileVisit(int file);

}  // namespace footprint::profiling_internal

// Tested by stages_test.

#endif  // FOOTPRINT_PROFILING_STAGES_FILE_STAGES_H_
