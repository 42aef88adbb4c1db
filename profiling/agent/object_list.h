// Writes the shared objects of a process to the file "PID.IMAGE.objects" in the
// folder of records: one path per line, in the order in which they were loaded.
// Objects without an absolute path, such as the program itself, and paths of
// more than 1,023 bytes are left out.
//
//   WriteObjectList(folder, "1234.0.objects");
//
// The agent calls it at the program's orderly end, because it takes the dynamic
// loader's lock, which the end by exit also takes. Allocates nothing; if it
// fails, the list is missing or ends early.
//
// Not thread-safe: only one thread may write a list of a name at a time. The
// caller owns the folder's descriptor.

#ifndef FOOTPRINT_PROFILING_AGENT_OBJECT_LIST_H_
#define FOOTPRINT_PROFILING_AGENT_OBJECT_LIST_H_

namespace footprint::profiling_internal {

void WriteObjectList(int folder, const char* name);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_AGENT_OBJECT_LIST_H_
