// A loaded program or library, as a record tells of it.
//
//   dl_find_object found;
//   if (_dl_find_object(code, &found) == 0) {
//     DescribeLoadedObject(found, &module);
//   }
//
// Works inside malloc and in signal handlers: no allocation, no lock. Copies
// what it tells: the record outlives the object. Thread-safe, while the object
// stays loaded.

#ifndef FOOTPRINT_PROFILING_SITES_LOADED_OBJECT_H_
#define FOOTPRINT_PROFILING_SITES_LOADED_OBJECT_H_

#include <dlfcn.h>

#include "footprint/profiling/records/call_tree_record.h"

namespace footprint::profiling_internal {

// Fills `module`, which must be zeros; its addresses last.
void DescribeLoadedObject(const dl_find_object& found, ModuleRecord* module);

// Returns whether the object is the recorded one: another may have been loaded
// to the addresses of one that is gone, even by the same path.
bool IsLoadedObject(const ModuleRecord& recorded, const dl_find_object& found);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_LOADED_OBJECT_H_
