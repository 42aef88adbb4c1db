#!/usr/bin/env bash
# The program as a person uses it: what it reads, and where results are lost.
set -euo pipefail
export PATH="$PWD/trainer_manager/plan_files:$PATH"
cd "$TEST_TMPDIR"

fail() {
  printf 'plan_arena_test: %s\n' "$*" >&2
  exit 1
}
# Runs a command that must fail with bad input and say the text.
refuses() {
  local text=$1 status=0
  shift
  timeout 20 "$@" >out 2>log || status=$?
  ((status == 2)) || fail "$* exited $status, not 2: $(cat log)"
  grep -qF -- "$text" log || fail "$* said: $(cat log)"
}

mkdir folder
printf 'id,lower,upper,size\na,0,4,1024\nb,3,6,512\n' >folder/two.csv
plan_arena folder >out
grep -q 'folder/two.csv: 2 tensors, height 1536, lower bound 1536' out || fail "$(cat out)"
# A pipe with a writer is read; a pipe among a folder's files is not waited for.
plan_arena <(cat folder/two.csv) >out
grep -q ': 2 tensors, height 1536' out || fail "$(cat out)"
mkfifo folder/pipe.csv
refuses 'folder/pipe.csv: not a regular file' plan_arena folder
rm folder/pipe.csv
refuses '/dev/zero: not a file' plan_arena /dev/zero

refuses 'nosuchflag' plan_arena --nosuchflag folder
refuses '--capacity is below zero' plan_arena --capacity=-1 folder
refuses '--time_limit is below zero' plan_arena --time_limit=-1s folder
cp folder/two.csv before.csv
refuses 'folder/two.csv would overwrite' plan_arena --output=folder/two.csv folder
refuses 'picture would overwrite' plan_arena --output=picture --picture=./picture folder
cmp folder/two.csv before.csv || fail 'the input was overwritten'
refuses 'nowhere/plan.csv' plan_arena --output=nowhere/plan.csv folder
plan_arena --output=plan.csv --picture=plan.html folder >out
grep -q '^b,' plan.csv || fail "$(cat plan.csv)"
grep -q '<html' plan.html || fail "$(head -c 300 plan.html)"

refuses 'plan_arena: standard output: cannot be written' \
  bash -c 'plan_arena folder >/dev/full'
echo passed
