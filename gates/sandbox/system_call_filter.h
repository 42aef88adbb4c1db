// Restricts the system calls that a program in a sandbox may make.
// system_call_filter.cc lists the allowed calls by group.
//
//   if (!InstallSystemCallFilter()) Fail(errno);
//
// The filter holds for this process and all its descendants, and cannot be
// removed; it requires no_new_privs. It allows files, memory, processes,
// signals, time, and Unix and Internet sockets (the network namespace has no
// device). Calls that ordinary programs may try but must not succeed with give
// EPERM: for example namespaces, mounts, other processes' memory, keys, BPF,
// clocks, io_uring, io_setup, inotify. So do sockets of other families. Huge
// pages from the host's reserve, which no memory limit counts, are refused as
// if there were none. All other calls, also those that later kernels add, give
// ENOSYS. A call of another architecture, or with a number from 2^30 on, ends
// the process. Thread-compatible; keeps nothing. Memory: about 15 KiB in the
// kernel. It returns no absl::Status because sandbox_init
// has no heap.

#ifndef FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_
#define FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_

namespace footprint {

// Installs the filter. Returns false, with the reason in errno, if it cannot.
bool InstallSystemCallFilter();

}  // namespace footprint

// Tested by sandbox_test.

#endif  // FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_
