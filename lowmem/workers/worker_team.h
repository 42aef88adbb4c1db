// A few threads that do one job together. This is the old name of
// base/threads/worker_team.h; see the comment there.
//
//   footprint::WorkerTeam team(2);
//
// The header declares nothing of its own, so it owns nothing and needs no
// memory.

#ifndef FOOTPRINT_LOWMEM_WORKERS_WORKER_TEAM_H_
#define FOOTPRINT_LOWMEM_WORKERS_WORKER_TEAM_H_

#include "footprint/base/threads/worker_team.h"  // IWYU pragma: export

// Tested by //base/threads:worker_team_test.

#endif  // FOOTPRINT_LOWMEM_WORKERS_WORKER_TEAM_H_
