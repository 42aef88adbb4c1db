// The stages of this process. Writes to a file which of them are open, and the
// heap's figures of each visit (stage_record.h).
//
//   BeginStages(folder, "1234.0.stages", &record->heap);
//   const int64_t visit = BeginVisit(StageKind::kNamed, "fit");
//   ...
//   EndVisit(StageKind::kNamed, visit);
//
// A stage's figures are those of a heap phase (heap_accounting.h). The number
// of phases is limited, so when too many visits are open, further ones are only
// counted and timed.
//
// The place of a visit. A visit is inside the last named stage or import that
// its thread has open; if its thread has none open, it is inside those of the
// main thread. Nothing is inside a file, because files are closed in any order.
// A file that an import reads belongs to the import and is not a stage. The
// stage of the process (PublishedHeap::stage) is the named one that began last;
// only if no named stage is open, it is the import or file that began last.
//
// Allocates nothing, because it runs beside malloc. Thread-safe. Code that a
// signal handler may run must first ask MayEnterStages. The child of a fork or
// vfork may call everything; in the child of a vfork, which shares its parent's
// memory, the calls do nothing. Memory: 8 KiB, an index of 32 to 64 bytes a
// stage and at least 16 KiB, and the file, with 272 bytes a stage. Time: a
// microsecond at the begin and at the end.

#ifndef FOOTPRINT_PROFILING_STAGES_STAGE_TABLE_H_
#define FOOTPRINT_PROFILING_STAGES_STAGE_TABLE_H_

#include <cstdint>

#include "footprint/profiling/heap/published_heap.h"
#include "footprint/profiling/records/stage_record.h"
#include "footprint/profiling/stages/footprint_stage.h"

namespace footprint::profiling_internal {

// Creates the file in the folder with this descriptor and starts recording.
// Returns false if the file cannot be created; then nothing is recorded. Call
// it once in a process, and again in the child of a fork, which then is inside
// the stages that the forking thread was in. `published` must live until the
// process ends; null means that nobody reads it.
bool BeginStages(int folder, const char* file_name, PublishedHeap* published);

// Ends all open stages when the process ends, and stops recording. Does nothing
// if a signal handler may have interrupted this table in the same thread.
void CompleteStages();

// Begins a visit and returns its number. Returns 0 if it is not recorded, and
// -1 for a named visit if 256 visits are open or there is no room for its
// stage.
int64_t BeginVisit(StageKind kind, const char* name);

// Returns false if a signal handler may have interrupted the heap's counters or
// this table in the same thread, and in the child of a vfork. Code that a
// signal handler may run must ask it first.
bool MayEnterStages();

// Ends a visit. If a named visit is not open, the record counts that.
void EndVisit(StageKind kind, int64_t visit);

// Ends the named visit that the thread began last. If the thread has none open,
// it ends the one that any thread began last, and the record counts that.
void EndLastNamedVisit();

// Stores the visit's figures so far. Returns false, and stores nothing, if the
// visit is not open or is not measured.
bool ReadVisit(int64_t visit, footprint_stage_figures* figures);

}  // namespace footprint::profiling_internal

// Tested by stages_test.

#endif  // FOOTPRINT_PROFILING_STAGES_STAGE_TABLE_H_
