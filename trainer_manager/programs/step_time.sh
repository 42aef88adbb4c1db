#!/usr/bin/env bash
# Step times and memory of training, side by side; see step_time.py. Takes its
# flags.
set -euo pipefail
exec python3 -B trainer_manager/programs/step_time.py "$@"
