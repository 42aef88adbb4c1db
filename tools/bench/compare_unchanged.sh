#!/usr/bin/env bash
# compare_unchanged.sh [COUNT]: measures one unchanged program COUNT times
# (1,000) as a gate with `program` does, its heap by memprof and its whole process
# from outside, in 3 fresh processes each. `compare` judges each measurement
# against the first, and the first against it. Exits with 1 if one of the two
# shows a difference. Takes about half a second for each measurement.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly COUNT=${1:-1000}
[[ $COUNT =~ ^[1-9][0-9]*$ ]] || { echo "$0: '$COUNT' is not a number of measurements" >&2; exit 2; }

bazel build //gates/programs:first_gate_program //gates/programs:compare_main \
  //profiling:memprof //profiling:profile_runner
bin=$(bazel info bazel-bin)
program=$bin/gates/programs/first_gate_program
folder=$(mktemp -d)

# measure FOLDER: writes the two profiles that a gate has.
measure() {
  mkdir "$1"
  "$bin/profiling/measuring/profile_runner" --label=//app:tool --process_count=3 --sites=yes \
    --memprof="$bin/profiling/memprof/memprof" --output="$1/heap.profile.binpb" \
    --samples_output="$folder/samples" -- "$program" >/dev/null
  "$bin/profiling/measuring/profile_runner" --label=//app:tool --process_count=3 --whole_process=load \
    --copy_program=yes --output="$1/whole_process.profile.binpb" \
    --samples_output="$folder/samples" -- "$program" >/dev/null
}

# is_same BASE CHANGE
is_same() {
  "$bin/gates/programs/compare_main" --base="$1" --change="$2" >"$folder/out" &&
    grep -q 'nothing differs' "$folder/out"
}

alarms=0
measure "$folder/first"
# If a measurement failed, equal profiles would prove nothing.
(($(stat -c %s "$folder/first/heap.profile.binpb") > 200)) || { echo "nothing was measured" >&2; exit 2; }
for ((i = 1; i <= COUNT; ++i)); do
  measure "$folder/$i"
  if is_same "$folder/first" "$folder/$i" && is_same "$folder/$i" "$folder/first"; then
    rm -r "${folder:?}/$i"
  else
    alarms=$((alarms + 1))
    echo "measurement $i: $(tail -n 1 "$folder/out"); see $folder/$i"
  fi
  ((i % 100)) || echo "$i of $COUNT compared, $alarms false alarms"
done
echo "compare: $alarms false alarms in $COUNT measurements of 3 + 3 processes"
((alarms == 0)) && rm -r "$folder"
exit "$((alarms > 0))"
