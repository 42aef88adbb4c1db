// Names the stages of a program, so that memprof shows which memory each of
// them needs. It is a single header for C and C++ without any dependency:
//
//   #include "footprint_stage.h"
//
//   void Train() {
//     footprint::Stage stage("fit");        // C++, until the end of the block
//     ...
//   }
//
//   footprint_stage_begin("predict");       // C
//   ...
//   footprint_stage_end();
//
// Then `memprof ./program` has a row for "fit". Without memprof the program
// behaves the same, and a stage costs a test of a pointer. The header finds the
// agent's functions by name (dlsym, for which glibc before 2.34 needs -ldl).
//
// Stages nest and form a tree. A stage is inside the last stage that its thread
// began and has not ended; if its thread has none open, it is inside the open
// stages of the main thread. The same name at the same place is one stage,
// visited again. Bytes are those of the whole process, whichever thread
// allocates them.
//
// Thread-safe; not for signal handlers. The name is copied; if it is longer
// than 151 bytes, its last 151 count. No call fails: memprof's report names
// unmatched ends and ends in the wrong order. Time under memprof: about a
// microsecond.
//
// The program must be linked dynamically, as memprof requires.

#ifndef FOOTPRINT_PROFILING_STAGES_FOOTPRINT_STAGE_H_
#define FOOTPRINT_PROFILING_STAGES_FOOTPRINT_STAGE_H_

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// The heap's figures of one visit of a stage, in bytes and nanoseconds.
struct footprint_stage_figures {
  // The most bytes live at once, above the bytes live at the start.
  int64_t peak_live_bytes;
  // The same peak, including the bytes live at the start.
  int64_t peak_live_absolute_bytes;
  int64_t allocated_bytes;
  int64_t allocation_count;
  int64_t net_growth_bytes;
  int64_t wall_time_ns;
};

// The functions of memprof's agent; null if it is not loaded.
struct footprint_stage_agent {
  int is_known;
  int64_t (*begin_visit)(const char* name);
  void (*end_visit)(int64_t visit);
  void (*end_last_visit)(void);
  int (*read_visit)(int64_t visit, struct footprint_stage_figures* figures);
};

static inline void footprint_stage_find(const char* name, void* function) {
  // The handle is RTLD_DEFAULT, which C declares only with GNU's extensions.
  void* const address = dlsym((void*)0, name);
  memcpy(function, &address, sizeof(address));
}

// Finds the agent's functions at the first call.
static inline const struct footprint_stage_agent* footprint_stage_find_agent(
    void) {
  static struct footprint_stage_agent agent;
  if (!__atomic_load_n(&agent.is_known, __ATOMIC_ACQUIRE)) {
    // Two threads at once write the same values.
    footprint_stage_find("footprint_agent_begin_visit", &agent.begin_visit);
    footprint_stage_find("footprint_agent_end_visit", &agent.end_visit);
    footprint_stage_find("footprint_agent_end_last_visit",
                         &agent.end_last_visit);
    footprint_stage_find("footprint_agent_read_visit", &agent.read_visit);
    __atomic_store_n(&agent.is_known, 1, __ATOMIC_RELEASE);
  }
  return &agent;
}

// Begins a stage and returns the visit's number. Returns a number that is not
// positive if nothing is recorded: 0 without memprof, for a null name, in the
// child of a vfork, or if the agent does not record stages; -1 if 256 visits
// are open or there is no room for the stage.
static inline int64_t footprint_stage_begin(const char* name) {
  const struct footprint_stage_agent* const agent =
      footprint_stage_find_agent();
  return agent->begin_visit ? agent->begin_visit(name) : 0;
}

// Ends the stage that the calling thread began last. If the thread has no open
// stage, it ends the one that any thread began last.
static inline void footprint_stage_end(void) {
  const struct footprint_stage_agent* const agent =
      footprint_stage_find_agent();
  if (agent->end_last_visit) agent->end_last_visit();
}

// Ends this visit, even if others began since. Any thread may call it.
static inline void footprint_stage_end_of(int64_t visit) {
  const struct footprint_stage_agent* const agent =
      footprint_stage_find_agent();
  if (agent->end_visit) agent->end_visit(visit);
}

// Reads the figures so far of an open visit and returns 1. Returns 0, and
// leaves `*figures` as they were, without memprof, if the visit is not open, or
// if it is not measured because too many are open at once.
static inline int footprint_stage_read(
    int64_t visit, struct footprint_stage_figures* figures) {
  const struct footprint_stage_agent* const agent =
      footprint_stage_find_agent();
  return agent->read_visit ? agent->read_visit(visit, figures) : 0;
}

#ifdef __cplusplus
}  // extern "C"

namespace footprint {

// A stage that lasts as long as the object.
class Stage {
 public:
  explicit Stage(const char* name) : visit_(footprint_stage_begin(name)) {}
  ~Stage() { footprint_stage_end_of(visit_); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  const int64_t visit_;
};

}  // namespace footprint
#endif  // __cplusplus

// Tested by stages_test.

#endif  // FOOTPRINT_PROFILING_STAGES_FOOTPRINT_STAGE_H_
