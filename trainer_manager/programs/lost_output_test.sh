#!/usr/bin/env bash
# Programs whose results were lost say so, and end with an error.
set -euo pipefail
cd trainer_manager

fail() {
  printf 'lost_output_test: %s\n' "$*" >&2
  exit 1
}

log=$TEST_TMPDIR/log
for program in planner/planner_example programs/training_example \
  'programs/training_steps --network=digits'; do
  status=0
  # shellcheck disable=SC2086
  timeout 60 ./$program </dev/null >/dev/full 2>"$log" || status=$?
  ((status == 1)) || fail "$program to a full device exited $status: $(cat "$log")"
  grep -q "^$(basename "${program%% *}"): standard output: cannot be written" "$log" ||
    fail "$program said: $(cat "$log")"
  # shellcheck disable=SC2086
  ./$program </dev/null >/dev/null || fail "$program exited $?"
done
echo passed
