// The system calls that a program in a sandbox may make: a list of what is
// allowed, by group, in system_call_filter.cc.
//
//   if (!InstallSystemCallFilter()) Fail(errno);
//
// For this process and all that descend from it, for good; it needs
// no_new_privs. Allowed are files, memory, processes, signals, time, and
// sockets of Unix and the Internet (the network namespace has no device). Calls
// that programs may try and must not have are refused with EPERM: namespaces,
// mounts, other processes' memory, keys, BPF, clocks, io_uring, io_setup. Any
// other, and any that a later kernel adds, gives ENOSYS. Other architectures'
// calls end the process. Thread-compatible; keeps nothing. Memory: 4 KiB in the
// kernel. Errors: false, with errno; no status, since sandbox_init has no heap.

#ifndef FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_
#define FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_

namespace footprint {

// Returns false if errno says why.
bool InstallSystemCallFilter();

}  // namespace footprint

// Tested by sandbox_test.

#endif  // FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_
