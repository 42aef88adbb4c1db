// The stages of this process: which are open, and the heap's figures of each
// visit, kept in a file (stage_record.h).
//
//   BeginStages(folder, "1234.0.stages", &record->heap);
//   const int64_t visit = BeginVisit(StageKind::kNamed, "fit");
//   ...
//   EndVisit(StageKind::kNamed, visit);
//
// A stage's figures are those of a heap phase (heap_accounting.h); phases are
// few, so visits among too many at once are counted and timed only.
//
// Where a visit is. It is inside the last named stage or import that its thread
// has open; in a thread that has none open, inside those of the main thread.
// Files have nothing inside, since they are closed in any order; a file that an
// import reads is the import's, and no stage. The stage of the process
// (PublishedHeap::stage) is the named one that began last; only where none is
// open, the import or file that began last.
//
// Allocates nothing, for it lives beside malloc. Thread-safe; not for signal
// handlers but for what is said. The child of a fork, and of a vfork, may call
// everything: in the latter, whose memory is its parent's, nothing happens.
// Memory: 16 KiB, 64 bytes a stage, and the file. Time: a microsecond at either
// end.

#ifndef FOOTPRINT_PROFILING_STAGES_STAGE_TABLE_H_
#define FOOTPRINT_PROFILING_STAGES_STAGE_TABLE_H_

#include <cstdint>

#include "footprint/profiling/heap/published_heap.h"
#include "footprint/profiling/records/stage_record.h"
#include "footprint/profiling/stages/footprint_stage.h"

namespace footprint::profiling_internal {

// Opens the file in the folder of that descriptor. False: it cannot be had, and
// nothing is recorded. Called once in a process, and again in the child of a
// fork, which then is inside the stages that the thread that forked was in.
// `published` must live until the process ends; null: nobody reads.
bool BeginStages(int folder, const char* file_name, PublishedHeap* published);

// Ends what is open, as the process ends; nothing is recorded from now on.
// Gives up where the thread may have interrupted itself in this table.
void CompleteStages();

// The visit's number. 0: nothing is recorded. -1: a named visit among too many
// at once.
int64_t BeginVisit(StageKind kind, const char* name);

// Returns false where the call may have interrupted the thread in the heap's
// counters or in this table, and in the child of a vfork: to be asked first by
// what a signal handler may call.
bool MayEnterStages();

// A named one that is not open (any more) is noted.
void EndVisit(StageKind kind, int64_t visit);

// The named one that the thread began last; of a thread that has none open, the
// one that any thread began last, which is noted.
void EndLastNamedVisit();

// Returns false if not open, or not measured.
bool ReadVisit(int64_t visit, footprint_stage_figures* figures);

}  // namespace footprint::profiling_internal

// Tested by stages_test.

#endif  // FOOTPRINT_PROFILING_STAGES_STAGE_TABLE_H_
