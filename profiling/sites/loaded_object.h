// Describes a loaded program or library for a record.
//
//   dl_find_object found;
//   if (_dl_find_object(code, &found) == 0) {
//     DescribeLoadedObject(found, &module);
//   }
//
// Works inside malloc and in signal handlers: it allocates nothing and takes no
// lock. It copies what it describes, so the record outlives the object.
// Thread-safe while the object stays loaded.

#ifndef FOOTPRINT_PROFILING_SITES_LOADED_OBJECT_H_
#define FOOTPRINT_PROFILING_SITES_LOADED_OBJECT_H_

#include <dlfcn.h>

#include "footprint/profiling/records/call_tree_record.h"

namespace footprint::profiling_internal {

// Fills `module`, which must be zeros. The addresses are written last.
void DescribeLoadedObject(const dl_find_object& found, ModuleRecord* module);

// Returns whether the object is the recorded one. Another object may have been
// loaded at the addresses of one that was unloaded, even from the same path.
bool IsLoadedObject(const ModuleRecord& recorded, const dl_find_object& found);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_LOADED_OBJECT_H_
