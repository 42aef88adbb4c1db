// Writes the shared objects of a process to the file "PID.IMAGE.objects" in the
// folder of records: a path each line, in the order in which they were loaded.
//
//   WriteObjectList(folder, "1234.0.objects");
//
// For the agent, at the program's orderly end: takes the dynamic loader's lock,
// which the end by exit takes, too. Allocates nothing; errors leave the list
// out.
//
// Not thread-safe: one list of a name at a time. The folder's descriptor stays
// the caller's, and open.

#ifndef FOOTPRINT_PROFILING_AGENT_OBJECT_LIST_H_
#define FOOTPRINT_PROFILING_AGENT_OBJECT_LIST_H_

namespace footprint::profiling_internal {

void WriteObjectList(int folder, const char* name);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_AGENT_OBJECT_LIST_H_
