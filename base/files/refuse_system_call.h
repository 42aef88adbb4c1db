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

// Makes io_uring_setup fail with EPERM from now on. False if filters are
// refused.
bool RefuseIoUring();

// Makes each start of a thread fail from now on.
bool RefuseThreads();

// Makes opening a file with O_DIRECT fail with EINVAL from now on.
bool RefuseDirectOpen();

// Makes reading at a place of a file fail with EIO from now on, as on a broken
// disk.
bool RefuseReadsAtPlaces();

// Makes flushing a file to the disk fail with EIO from now on, as on a broken
// disk.
bool RefuseFlushes();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_REFUSE_SYSTEM_CALL_H_
