// The functions by which footprint_stage.h and footprint.py find the agent.

#include "footprint/profiling/sites/call_sites.h"
#include "footprint/profiling/stages/footprint_stage.h"
#include "footprint/profiling/stages/stage_table.h"

using footprint::profiling_internal::BeginVisit;
using footprint::profiling_internal::EndLastNamedVisit;
using footprint::profiling_internal::EndVisit;
using footprint::profiling_internal::MayEnterStages;
using footprint::profiling_internal::ReadVisit;
using footprint::profiling_internal::RestartRecentPeakOfSites;
using footprint::profiling_internal::StageKind;

extern "C" {

int64_t footprint_agent_begin_visit(const char* name) {
  return BeginVisit(StageKind::kNamed, name);
}

void footprint_agent_end_visit(int64_t visit) {
  EndVisit(StageKind::kNamed, visit);
}

void footprint_agent_end_last_visit(void) { EndLastNamedVisit(); }

int footprint_agent_read_visit(int64_t visit,
                               struct footprint_stage_figures* figures) {
  return ReadVisit(visit, figures) ? 1 : 0;
}

void footprint_agent_restart_recent_peak(void) {
  if (MayEnterStages()) RestartRecentPeakOfSites();
}

}  // extern "C"
