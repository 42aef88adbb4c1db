#!/usr/bin/env bash
# false_alarms.sh [COUNT]: measures one unchanged program COUNT times (10,000),
# in 3 fresh processes each as memory_profile does, and counts the profiles that
# differ from the first in any byte. A gate is a pure function of the profile,
# so an equal profile cannot raise an alarm that the first did not. A different
# profile counts as an alarm, whether or not a gate would notice. Exits with 1
# if there is one, and keeps it. Each profile is of one benchmark, in turn, and
# is compared with the first one of that benchmark. This takes 0.05 s of a
# processor, a tenth of the time of all benchmarks.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly COUNT=${1:-10000}
readonly PROFILE=profiling/google_benchmark/sample_benchmark_profile
[[ $COUNT =~ ^[1-9][0-9]*$ ]] || { echo "$0: '$COUNT' is no number of profiles" >&2; exit 2; }

bazel build //gates:sampled_gate_test
folder=$(mktemp -d)
cd "$(bazel info bazel-bin)/gates/sampled_gate_test.runfiles/footprint"
mapfile -t names < <("./${PROFILE%_profile}" --benchmark_list_tests)
((${#names[@]} > 1)) || { echo "no benchmarks are listed" >&2; exit 2; }
alarms=0
# The first profile of each benchmark is not counted.
for ((i = 1 - ${#names[@]}; i <= COUNT; ++i)); do
  of=$(((i + ${#names[@]} - 1) % ${#names[@]}))
  "./$PROFILE.sampler.sh" --process_count=3 --output="$folder/profile.$i" \
    --samples_output="$folder/samples" "--argument=--benchmark_filter=^${names[of]}\$"
  if ((i <= 0)); then
    # If a measurement failed, equal profiles would prove nothing.
    (($(stat -c %s "$folder/profile.$i") > 200)) || { echo "nothing was measured" >&2; exit 2; }
    mv "$folder/profile.$i" "$folder/first.$of"
    continue
  fi
  if cmp -s "$folder/first.$of" "$folder/profile.$i"; then
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
