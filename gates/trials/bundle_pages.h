// Takes a bundle's files out of the page cache, so that a run that reads them
// reads them from the disk, and their pages count in its control group.
//
//   absl::Status status = EvictFiles("/var/trials/17/bundle");
//
// A file's page counts where it is read first: pages that whoever unpacked the
// bundle left behind would count for no run. Every regular file is looked at
// again afterwards.
//
// Thread-safe; keeps and owns nothing. Memory: a byte for each page of the
// largest file. Time: the disk's, for files that are not yet written, and some
// microseconds a file; up to ten seconds for a file whose pages something holds
// meanwhile, as the kernel does when memory is short. Errors:
// kFailedPrecondition: the file system keeps its files in memory, as a tmpfs
// does, or a process holds a file for longer, named with the way out; else
// FileError's.

#ifndef FOOTPRINT_GATES_TRIALS_BUNDLE_PAGES_H_
#define FOOTPRINT_GATES_TRIALS_BUNDLE_PAGES_H_

#include <string>

#include "absl/status/status.h"

namespace footprint {

absl::Status EvictFiles(const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_BUNDLE_PAGES_H_
