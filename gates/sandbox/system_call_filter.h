// The system calls that a program in a sandbox is refused.
//
//   if (!InstallSystemCallFilter()) Fail(errno);
//
// For this process and all that descend from it, for good; it needs
// no_new_privs. Refused with EPERM: namespaces, mounts, other processes'
// memory, keys, kernel modules, BPF, clocks, io_uring, handles, and sockets but
// those of Unix and the Internet (the network namespace has no device). Other
// architectures' calls end the process. Thread-compatible; keeps nothing.
// Memory: 1 KiB in the kernel.

#ifndef FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_
#define FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_

namespace footprint {

// False: errno says why.
bool InstallSystemCallFilter();

}  // namespace footprint

// Tested by sandbox_test.

#endif  // FOOTPRINT_GATES_SANDBOX_SYSTEM_CALL_FILTER_H_
