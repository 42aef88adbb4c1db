// Evicts a bundle's files from the page cache. A run then reads them from the
// disk, and their pages count in its control group.
//
//   absl::Status status = EvictFiles("/var/trials/17/bundle");
//
// A page of a file counts for the control group that reads it first, so pages
// that are left from unpacking would count for no run. Every regular file is
// checked afterwards.
//
// Thread-safe; keeps nothing. Memory: a byte for each page of the largest file.
// Time: that of the disk for files that are not yet written, and some
// microseconds for each file. For ten thousand files and more, the file
// system is written first, with what others have changed on it. Up to ten
// seconds for a file whose pages are held, for example by the kernel when
// memory is short. Errors: kFailedPrecondition, with what to do, if the file
// system keeps its files in memory, as a tmpfs does, or if a process holds a
// file for longer; else FileError's.

#ifndef FOOTPRINT_GATES_TRIALS_BUNDLE_PAGES_H_
#define FOOTPRINT_GATES_TRIALS_BUNDLE_PAGES_H_

#include <string>

#include "absl/status/status.h"

namespace footprint {

// Evicts the pages of all regular files below `folder`.
absl::Status EvictFiles(const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_BUNDLE_PAGES_H_
