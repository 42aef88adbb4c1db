// Keeps the files of a folder of records open, so that a program that removes
// the folder is measured all the same.
//
//   KeptRecords kept("/tmp/memprof-a1b2c3");
//   ... kept.Wait(milliseconds, process) until the program has ended ...
//   if (kept.IsFolderRemoved()) kept.ForEachImage([&] { ReadRecords(...); });
//
// The kernel says at once when a file is created. A file that is removed before
// this process has opened it is lost, so the last images before the removal may
// lack files. Files beyond a quarter of the limit of descriptors, or 500, are
// not kept; none is if that limit is below 64.
//
// Owns the descriptors. Thread-compatible. Memory: some hundred bytes a file.

#ifndef FOOTPRINT_PROFILING_MEMPROF_KEPT_RECORDS_H_
#define FOOTPRINT_PROFILING_MEMPROF_KEPT_RECORDS_H_

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

class KeptRecords {
 public:
  // The folder must exist.
  explicit KeptRecords(std::string folder);
  KeptRecords(const KeptRecords&) = delete;
  KeptRecords& operator=(const KeptRecords&) = delete;

  // Opens the files that are new.
  void Look();

  // Waits for that many milliseconds, until the process (a pidfd) has ended, or
  // until a signal comes, and opens files as they are created. A descriptor
  // that is not open is not waited for.
  void Wait(int milliseconds, const FileDescriptor& process);

  // Returns whether the path leads to no folder or to another one.
  bool IsFolderRemoved() const;

  // Makes the folder again, and calls `read` once for each process image, while
  // the folder has the kept files of that image alone. They can be read by this
  // process. The folder stays. Does not call `read` if the folder cannot be
  // made, for example because there is something else by now.
  void ForEachImage(absl::FunctionRef<void()> read) const;

 private:
  std::string PathOf(const std::string& name) const;

  const std::string folder_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  size_t most_files_ = 0;
  FileDescriptor creations_;  // of inotify
  std::map<std::string, FileDescriptor> files_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_KEPT_RECORDS_H_
