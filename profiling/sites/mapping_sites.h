// Records where a program maps memory: the calls and the stage of each mapping,
// and what each had mapped when the process had most bytes mapped.
//
//   MappingSites mappings;
//   mappings.Begin(&file, mapped_file);
//   if (!mappings.Map(begin, size_bytes, node, stage)) NoteFull();
//   if (!mappings.Unmap(begin, size_bytes)) NoteFull();
//
// Every mapping is recorded, so its figures are exact. As with the blocks of
// the heap (call_sites.h), a site's figure at the peak is copied when the site
// first changes after it.
//
// Works inside mmap. Thread-compatible. Memory: 32 bytes a site in the file, an
// index of 32 to 64 bytes a site, and 24 to 48 bytes a mapping
// (owned_ranges.h).

#ifndef FOOTPRINT_PROFILING_SITES_MAPPING_SITES_H_
#define FOOTPRINT_PROFILING_SITES_MAPPING_SITES_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/records/site_record.h"
#include "footprint/profiling/sites/growing_file.h"
#include "footprint/profiling/sites/number_index.h"
#include "footprint/profiling/sites/owned_ranges.h"

namespace footprint::profiling_internal {

class MappingSites {
 public:
  constexpr MappingSites() = default;
  MappingSites(const MappingSites&) = delete;
  MappingSites& operator=(const MappingSites&) = delete;

  // Starts to record into the file, which must outlive this object or its End.
  // What a fork's parent had mapped belongs to no calls. Returns false if the
  // disk is full.
  bool Begin(GrowingFile* file, SiteFile* sites);
  // Stops recording, and keeps the ranges for the child of a fork.
  void End();

  // Records a mapping by the calls of this node. It replaces what was mapped at
  // its addresses. Returns false if the mapping found no room; then its calls
  // are unknown.
  bool Map(uintptr_t begin, size_t size_bytes, uint32_t node, uint32_t stage);
  // Records that the addresses are no longer mapped. Returns false if the
  // kernel has no memory.
  bool Unmap(uintptr_t begin, size_t size_bytes);

 private:
  // Returns the number of the site, or that of the site without calls if there
  // is no room for another.
  uint32_t FindSite(uint32_t node, uint32_t stage);
  void Change(uint32_t number, int64_t change_bytes);

  SiteFile* sites_ = nullptr;
  GrowingArray array_;
  NumberIndex index_;
  OwnedRanges ranges_;
  int64_t mapped_bytes_ = 0;
  int64_t peak_bytes_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_MAPPING_SITES_H_
