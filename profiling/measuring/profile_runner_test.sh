#!/usr/bin/env bash
# Tests the command line of the tool behind `memory_profile`.
set -uo pipefail

runner=$PWD/$1
program=$PWD/$2
scratch=$TEST_TMPDIR
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect STATUS TEXT ARGUMENT...: the exit status, and what standard error says.
expect() {
  local status=$1 text=$2 actual=0
  shift 2
  "$runner" "$@" 2>"$scratch/error" || actual=$?
  ((actual == status)) || fail "status $actual, not $status, of: $*"
  [[ $(<"$scratch/error") == *"$text"* ]] ||
    fail "'$text' is not in '$(cat "$scratch/error")', from: $*"
}

outputs=(--label=//a:b --output="$scratch/p" --samples_output="$scratch/s")

expect 2 "no program after --"
expect 2 "no program after --" "${outputs[@]}" --
expect 2 "unknown flag 'x'" x
expect 2 "unknown flag '--unknown=1'" --unknown=1 -- "$program"
expect 2 "--as names no data" --as=name -- "$program"
expect 2 "--process_count=3x must be a whole number" --process_count=3x -- x
expect 2 "--sites is =yes" --sites=no -- x
expect 2 "--copy_program is =yes" --copy_program=1 -- x
expect 2 "--label=, --output= and --samples_output= are needed" -- "$program"
expect 2 "process count 2 must be at least 3" \
  "${outputs[@]}" --process_count=2 -- "$program"
expect 2 "data file /no/such/file" \
  "${outputs[@]}" --data=/no/such/file --as=x -- "$program"
expect 2 "$scratch/none/p" \
  --label=//a:b --output="$scratch/none/p" --samples_output="$scratch/s" \
  -- "$program"
[[ ! -e $scratch/p ]] || fail "a wrong command line left an output"

# A program that fails is a result like any other.
expect 0 "" "${outputs[@]}" -- "$program" --do=crash
[[ -s $scratch/p && -s $scratch/s ]] || fail "no output for a crash"

# The profile holds nothing about where the runner itself runs.
expect 0 "" "${outputs[@]}" -- "$program"
cp "$scratch/p" "$scratch/first"
(cd / && A_VARIABLE=set HOME=/elsewhere "$runner" "${outputs[@]}" -- "$program" \
  5</dev/null) || fail "status $? from another folder"
cmp "$scratch/p" "$scratch/first" || fail "the profile depends on the caller"

# A cancelled runner takes the program and its folder with it.
rm "$scratch/p"
"$runner" "${outputs[@]}" -- "$program" --do=hang 2>/dev/null &
runner_process=$!
until [[ -n $(cat /proc/$runner_process/task/*/children 2>/dev/null) ]]; do
  sleep 0.01
done
program_process=$(cat /proc/$runner_process/task/*/children)
folder=$(readlink "/proc/${program_process// /}/cwd")
kill -TERM $runner_process
wait $runner_process
status=$?
((status == 130)) || fail "status $status, not 130, when cancelled"
kill -0 "$program_process" 2>/dev/null && fail "the program outlived its runner"
[[ $folder == / || ! -e $folder ]] || fail "$folder was left behind"
[[ ! -e $scratch/p ]] || fail "a cancelled measurement left an output"

# The next runner removes a folder that a killed one left, and none that is in
# use.
"$runner" "${outputs[@]}" -- "$program" --do=hang 2>/dev/null &
runner_process=$!
until [[ -n $(cat /proc/$runner_process/task/*/children 2>/dev/null) ]]; do
  sleep 0.01
done
program_process=$(cat /proc/$runner_process/task/*/children)
until folder=$(readlink "/proc/${program_process// /}/cwd") &&
  [[ $folder == /tmp/footprint-* ]]; do
  sleep 0.01
done
expect 0 "" "${outputs[@]}" -- "$program"
[[ -d $folder ]] || fail "$folder was in use, and is gone"
kill -KILL $runner_process
wait $runner_process
# Another test's runner may have been here before.
expect 0 "" "${outputs[@]}" -- "$program"
[[ ! -e $folder ]] || fail "$folder of a killed runner is still there"

# It removes nothing that only looks like such a folder: a user's folder, one of
# a runner without markers, or one that somebody copied or renamed to keep it.
users=$(mktemp -d /tmp/footprint-XXXXXX)
echo kept >"$users/profile.binpb"
"$runner" "${outputs[@]}" -- "$program" --do=hang 2>/dev/null &
runner_process=$!
until [[ -n $(cat /proc/$runner_process/task/*/children 2>/dev/null) ]]; do
  sleep 0.01
done
program_process=$(cat /proc/$runner_process/task/*/children)
until folder=$(readlink "/proc/${program_process// /}/cwd") &&
  [[ $folder == /tmp/footprint-* ]]; do
  sleep 0.01
done
copied=$(mktemp -d /tmp/footprint-XXXXXX)
cp -a "$folder/." "$copied"
renamed=$(mktemp -u /tmp/footprint-XXXXXX)
mv "$folder" "$renamed"
kill -KILL $runner_process
wait $runner_process
expect 0 "" "${outputs[@]}" -- "$program"
for kept in "$users" "$copied" "$renamed"; do
  [[ -d $kept ]] || fail "$kept, which no runner made, is gone"
  rm -rf "$kept"
done

((failures == 0))
