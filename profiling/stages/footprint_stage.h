// Names the stages of a program, so that memprof tells which memory each of
// them needs. A header alone, of C and C++, without any dependency:
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
// Then `memprof ./program` has a row for "fit". Without memprof the program is
// the same, and a stage costs a test of a pointer: the agent's functions are
// looked for by name (dlsym, of which glibc before 2.34 needs -ldl).
//
// Stages nest, and make a tree: a stage is inside the last one that its thread
// began and has not ended; in a thread that began none, inside those of the
// main thread. The same name at the same place is one stage, visited again.
// Bytes are those of the whole process, whichever thread allocates them.
//
// Thread-safe; not for signal handlers. A name is copied; its last 151 bytes
// count. Nothing fails: an end too many, or ends in another order, are named in
// memprof's report. Time under memprof: about a microsecond.
//
// The program must be linked dynamically, as memprof demands of all programs.

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
  // The most that was live, above what was live at the start.
  int64_t peak_live_bytes;
  // The same, with what was live at the start.
  int64_t peak_live_absolute_bytes;
  int64_t allocated_bytes;
  int64_t allocation_count;
  int64_t net_growth_bytes;
  int64_t wall_time_ns;
};

// The functions of memprof's agent; null where it is not there.
struct footprint_stage_agent {
  int is_known;
  int64_t (*begin_visit)(const char* name);
  void (*end_visit)(int64_t visit);
  void (*end_last_visit)(void);
  int (*read_visit)(int64_t visit, struct footprint_stage_figures* figures);
};

static inline void footprint_stage_find(const char* name, void* function) {
  // The handle is RTLD_DEFAULT, which C knows with GNU's extensions only.
  void* const address = dlsym((void*)0, name);
  memcpy(function, &address, sizeof(address));
}

// Looks for the agent once.
static inline const struct footprint_stage_agent* footprint_stage_find_agent(
    void) {
  static struct footprint_stage_agent agent;
  if (!__atomic_load_n(&agent.is_known, __ATOMIC_ACQUIRE)) {
    // Two threads at once write the same.
    footprint_stage_find("footprint_agent_begin_visit", &agent.begin_visit);
    footprint_stage_find("footprint_agent_end_visit", &agent.end_visit);
    footprint_stage_find("footprint_agent_end_last_visit",
                         &agent.end_last_visit);
    footprint_stage_find("footprint_agent_read_visit", &agent.read_visit);
    __atomic_store_n(&agent.is_known, 1, __ATOMIC_RELEASE);
  }
  return &agent;
}

// Begins a stage. The number tells the visit; 0: memprof is not there.
static inline int64_t footprint_stage_begin(const char* name) {
  const struct footprint_stage_agent* const agent =
      footprint_stage_find_agent();
  return agent->begin_visit ? agent->begin_visit(name) : 0;
}

// Ends the stage that the calling thread began last; in a thread that has none
// open, the one that any thread began last.
static inline void footprint_stage_end(void) {
  const struct footprint_stage_agent* const agent =
      footprint_stage_find_agent();
  if (agent->end_last_visit) agent->end_last_visit();
}

// Ends that visit, also where others began since; from any thread.
static inline void footprint_stage_end_of(int64_t visit) {
  const struct footprint_stage_agent* const agent =
      footprint_stage_find_agent();
  if (agent->end_visit) agent->end_visit(visit);
}

// Reads the figures of an open visit so far. 0: memprof is not there, or the
// visit is not open, or one among too many at once; `*figures` are then as they
// were.
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
