#!/usr/bin/env bash
# The README's example prints what the README says.
set -euo pipefail
diff trainer_manager/planner/testdata/planner_example.txt \
  <(trainer_manager/planner/planner_example)
