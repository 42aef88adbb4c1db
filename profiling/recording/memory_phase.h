// A named part of a program whose memory is to be told apart: setup, load,
// fit, inference, teardown, or the user's own name.
//
//   void Train(Model* model) {
//     footprint::MemoryPhase phase("fit");
//     model->Fit();
//   }
//
// In a program that memprof measures a phase is a stage (footprint_stage.h).
//
// Phases nest. One that is entered again under the same phase is the same
// phase: its peak is the highest of its peaks, its volume their sum. They cost
// nothing, and record nothing, unless a profile is being made (benchmark_main,
// program_profile) or memprof measures the program.
//
// Thread-safety: phases may be entered on any thread; which one is around
// another is known for each thread by itself. The bytes are those of the whole
// process. Memory: none on the heap, so a phase does not measure itself. Time:
// microseconds at either end. At most 256 different phases are recorded; what
// comes after them is left out and `UnrecordedPhaseCount()` says so.

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
    kThisThread,   // phases that this thread enters meanwhile are inside
    kEveryThread,  // so are those of all other threads, if inside no other
                   // phase; itself only inside another of this kind
  };

  // `name` must live until the profile is written; a literal does.
  explicit MemoryPhase(const char* name, Around around = Around::kThisThread);
  ~MemoryPhase() { End(); }
  MemoryPhase(const MemoryPhase&) = delete;
  MemoryPhase& operator=(const MemoryPhase&) = delete;

  // Ends the phase before the object's life does. Phases must end in the
  // reverse order of their beginning.
  void End();

 private:
  Around around_;
  // The number of memprof's stage; 0: memprof is not there.
  int64_t stage_visit_ = 0;
  int record_ = -1;
  int outer_record_ = -1;
  HeapPhase heap_phase_;
};

// Recorded phases, for those who write profiles.

struct RecordedMemoryPhase {
  const char* name = nullptr;
  // Index of the phase around it; -1 for none.
  int parent = -1;
  // Beginnings that have no end yet; `bytes` lacks what they needed.
  int open_count = 0;
  // Entered more than once: peaks are the highest, volumes and growth the sum.
  HeapPhaseBytes bytes;
};

// Forgets what was recorded and records from now on. To be called while no
// phase is open.
void RecordMemoryPhases();

// Phases that begin from now on are not recorded; what was recorded stays.
void StopRecordingMemoryPhases();

// The phases since RecordMemoryPhases, in order of their first beginning. Those
// still open are listed with what their earlier visits needed.
std::vector<RecordedMemoryPhase> RecordedMemoryPhases();

// Returns why what was recorded is not whole: a phase that is still open, or
// too many phases. Empty if it is.
std::string MemoryPhasesFault();

// Returns how many beginnings found no room among the 256.
int UnrecordedPhaseCount();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_MEMORY_PHASE_H_
