// Makes the kernel refuse system calls to this process, as a container's filter
// does, so that tests reach the code that runs in their place.
//
//   if (!RefuseThreads()) std::_Exit(3);
//   const absl::Status status = LazyLoading(&chain, file, options).status();
//
// For children of death tests: a refusal cannot be taken back. It is for the
// calling thread, and for threads and children that it starts later, and ends
// with the process. Memory: the kernel's, some hundred bytes a refusal.

#ifndef FOOTPRINT_BASE_FILES_REFUSE_SYSTEM_CALL_H_
#define FOOTPRINT_BASE_FILES_REFUSE_SYSTEM_CALL_H_

namespace footprint {

// From now on io_uring_setup fails with EPERM. False if filters are refused.
bool RefuseIoUring();

// From now on no thread can be started.
bool RefuseThreads();

// From now on opening a file with O_DIRECT fails with EINVAL.
bool RefuseDirectOpen();

// From now on reading at a place of a file fails with EIO, as on a broken disk.
bool RefuseReadsAtPlaces();

// From now on flushing a file to the disk fails with EIO, as on a broken disk.
bool RefuseFlushes();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_REFUSE_SYSTEM_CALL_H_
