#!/usr/bin/env bash
# false_alarms.sh [COUNT]: measures one unchanged program COUNT times (10,000), in
# 3 fresh processes each as memory_profile does, and counts the profiles that
# differ from the first in any byte. A gate is a pure function of the profile, so
# none that is the same can raise an alarm that the first did not; one that
# differs counts as an alarm, whether a gate would see it or not. Ends with 1 if
# there is one, and keeps it. Takes a second a profile where others work beside it.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly COUNT=${1:-10000}
readonly PROFILE=profiling/google_benchmark/sample_benchmark_profile
[[ $COUNT =~ ^[1-9][0-9]*$ ]] || { echo "$0: '$COUNT' is no number of profiles" >&2; exit 2; }

bazel build //gates:sampled_gate_test
folder=$(mktemp -d)
cd "$(bazel info bazel-bin)/gates/sampled_gate_test.runfiles/footprint"
alarms=0
for ((i = 0; i <= COUNT; ++i)); do
  "./$PROFILE.sampler.sh" --process_count=3 --output="$folder/profile.$i" \
    --samples_output="$folder/samples"
  if ((i == 0)); then
    # Where a measurement failed, equal profiles would show nothing.
    (($(stat -c %s "$folder/profile.0") > 200)) || { echo "nothing was measured" >&2; exit 2; }
    continue
  fi
  if cmp -s "$folder/profile.0" "$folder/profile.$i"; then
    rm "$folder/profile.$i"
  else
    alarms=$((alarms + 1))
    echo "profile $i differs: $folder/profile.$i"
  fi
  ((i % 500)) || echo "$i of $COUNT measured, $alarms false alarms"
done
echo "$alarms false alarms in $COUNT measured profiles of 3 processes each"
((alarms == 0)) && rm -r "$folder"
exit "$((alarms > 0))"
