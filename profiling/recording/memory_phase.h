// A named part of a program whose memory is measured separately: setup, load,
// fit, inference, teardown, or the user's own name.
//
//   void Train(Model* model) {
//     footprint::MemoryPhase phase("fit");
//     model->Fit();
//   }
//
// In a program that memprof measures, a phase is a stage (footprint_stage.h),
// and `Around` has no effect.
//
// Phases nest. A phase that is entered again inside the same phase is the same
// phase: its peak is the highest of its peaks, and its volume their sum. Phases
// record nothing, and cost little, unless a profile is being made
// (benchmark_main, program_profile) or memprof measures the program.
//
// Thread-safety: any thread may enter phases; nesting is tracked for each
// thread separately, and a phase of kThisThread must end on the thread that
// began it. The bytes are those of the whole process. Memory: none on the heap,
// so a phase does not measure itself. Time: microseconds at the begin and at
// the end. At most 256 different phases are recorded. Visits of later ones are
// left out, and `UnrecordedPhaseCount()` counts them. While a profile is being
// made, at most 32 may be open at once; one more ends the process.

#ifndef FOOTPRINT_PROFILING_RECORDING_MEMORY_PHASE_H_
#define FOOTPRINT_PROFILING_RECORDING_MEMORY_PHASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/profiling/heap/heap_accounting.h"

namespace footprint {

class MemoryPhase {
 public:
  enum class Around {
    // Phases that this thread enters until the end are inside this one.
    kThisThread,
    // Phases of all threads are inside this one, unless they are inside another
    // phase. This phase itself is only inside another phase of this kind.
    kEveryThread,
  };

  // `name` must live until the profile is written, as a literal does.
  explicit MemoryPhase(const char* name, Around around = Around::kThisThread);
  ~MemoryPhase() { End(); }
  MemoryPhase(const MemoryPhase&) = delete;
  MemoryPhase& operator=(const MemoryPhase&) = delete;

  // Ends the phase before the object is destroyed; a second call does nothing.
  // The phases of a thread must end in the reverse order of their beginning.
  void End();

 private:
  Around around_;
  // The number of memprof's stage; 0 without memprof.
  int64_t stage_visit_ = 0;
  int record_ = -1;
  int outer_record_ = -1;
  HeapPhase heap_phase_;
};

// Recorded phases, for code that writes profiles.

struct RecordedMemoryPhase {
  const char* name = nullptr;
  // Index of the phase around it, or -1.
  int parent = -1;
  // The number of visits that are still open; `bytes` lacks what they needed.
  int open_count = 0;
  // If the phase was entered more than once, each peak is the highest of its
  // visits, and volumes and growth are sums.
  HeapPhaseBytes bytes;
};

// Discards what was recorded and records from now on. Call it while no phase is
// open.
void RecordMemoryPhases();

// Stops recording. What was recorded stays.
void StopRecordingMemoryPhases();

// Returns the phases since RecordMemoryPhases, in the order of their first
// beginning. A phase that is still open has the figures of its earlier visits.
std::vector<RecordedMemoryPhase> RecordedMemoryPhases();

// Returns why the record is incomplete: a phase is still open, or there are too
// many phases. Returns "" if it is complete.
std::string MemoryPhasesFault();

// Returns how many visits found no room because there were 256 phases.
int UnrecordedPhaseCount();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_MEMORY_PHASE_H_
