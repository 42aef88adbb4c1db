// Lists the children of a process, as the kernel knows them.
//
//   std::vector<int> children;
//   if (!AppendChildProcesses(process_id, &children)) return;  // it has ended
//
// The children of all its threads are listed, in no particular order, including
// those that have ended and were not waited for. A running child may be left
// out if, during the call, another child is waited for or a thread ends. Keeps
// nothing. Thread-safe. Memory: about 100 KiB of the heap while it reads. Time:
// some 10 us per thread. Source: proc(5), /proc/PID/task/TID/children. A kernel
// without CONFIG_PROC_CHILDREN lists none.

#ifndef FOOTPRINT_BASE_MACHINE_CHILD_PROCESSES_H_
#define FOOTPRINT_BASE_MACHINE_CHILD_PROCESSES_H_

#include <vector>

namespace footprint {

// Appends the children. Returns false if the process does not exist or is
// hidden from this user, or if no file descriptor or memory is left.
bool AppendChildProcesses(int process_id, std::vector<int>* children);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_CHILD_PROCESSES_H_
