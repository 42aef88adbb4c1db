#!/usr/bin/env bash
# Measures the cost of exact accounting on a program that only allocates and
# frees, compared with plain jemalloc, jemalloc's own sampling profiler and
# heaptrack, in one run. The commands alternate; see
# tools/bench/paired_ratio.py. Takes its flags.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
loop() { printf 'profiling/measuring/allocation_loop_%s' "$1"; }

for threads in 1 2; do
  calls=8
  echo "## $threads thread(s), $calls million pairs of calls each"
  cat >"$folder/plan.json" <<EOF
{"baseline": "bare jemalloc", "commands": [
  {"name": "bare jemalloc", "argv": ["$(loop bare_jemalloc)", "$threads", "$calls"]},
  {"name": "bare jemalloc again", "argv": ["$(loop bare_jemalloc)", "$threads", "$calls"]},
  {"name": "exact_heap", "argv": ["$(loop exact_heap)", "$threads", "$calls"]},
  {"name": "exact_heap_with_requested_bytes", "rounds": 6,
   "argv": ["$(loop requested_bytes)", "$threads", "$calls"]},
  {"name": "jemalloc, sampling every 512 KiB", "argv": ["$(loop bare_jemalloc)", "$threads", "$calls"],
   "environment": {"MALLOC_CONF": "prof:true,lg_prof_sample:19"}},
  {"name": "glibc's malloc", "argv": ["$(loop system_malloc)", "$threads", "$calls"]},
  {"name": "heaptrack over glibc's malloc", "rounds": 2,
   "argv": ["heaptrack", "--output", "$folder/heaptrack", "$(loop system_malloc)", "$threads", "$calls"]}
]}
EOF
  python3 tools/bench/paired_ratio.py "$folder/plan.json" "$@"
  echo
done
