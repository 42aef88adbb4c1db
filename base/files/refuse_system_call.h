// Makes the kernel refuse system calls of this process, as a container's filter
// does, so that tests reach the code that runs in such a case.
//
//   if (!RefuseThreads()) std::_Exit(3);
//   const absl::Status status = LazyLoading(&chain, file, options).status();
//
// Use this in children of death tests only, since a refusal cannot be undone.
// It applies to the calling thread and to threads and children that it starts
// later, and ends with the process. Memory: some hundred bytes in the kernel
// per refusal. Each function returns false if the kernel refuses filters.

#ifndef FOOTPRINT_BASE_FILES_REFUSE_SYSTEM_CALL_H_
#define FOOTPRINT_BASE_FILES_REFUSE_SYSTEM_CALL_H_

namespace footprint {

// Makes io_uring_setup fail with EPERM from now on.
bool RefuseIoUring();

// Makes each start of a thread, and each fork, fail with EAGAIN from now on.
// vfork still works.
bool RefuseThreads();

// Makes opening a file with O_DIRECT fail with EINVAL from now on.
bool RefuseDirectOpen();

// Makes reads at an offset (pread) fail with EIO from now on, as on a broken
// disk.
bool RefuseReadsAtPlaces();

// Makes close_range fail with EPERM from now on.
bool RefuseClosingRanges();

// Makes fsync fail with EIO from now on, as on a broken disk. Other calls that
// flush, such as fdatasync, still work.
bool RefuseFlushes();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_REFUSE_SYSTEM_CALL_H_
