#!/usr/bin/env bash
# Compares the cost of a hit with that of a plain load and of other caches, by the
# processor time of rows in 31 runs of one program; see tools/bench/row_ratio.py.
# Takes that program's flags and returns its exit status: 1 if this processor misses
# a goal.
set -euo pipefail

readonly PROGRAM=memo/get_alternatives_benchmark
plan=$(mktemp)
trap 'rm -f "$plan"' EXIT

pair() { printf '  {"row": "%s", "baseline": "%s"%s}' "$1" "$2" "${3:+, $3}"; }

{
  printf '{"argv": ["%s", "--benchmark_min_time=0.02"], "pairs": [\n' "$PROGRAM"
  for threads in 1 2; do
    at_least=$((threads == 1 ? 20 : 30))
    end=/threads:$threads
    pair "BM_ReadHeldHandle$end" "BM_ReadPlainPointer$end"
    printf ',\n'
    for hit in GetMemo GetMemoThatCannotThrow; do
      pair "BM_$hit$end" "BM_ReadPlainPointer$end" '"at_most": 5'
      if [[ $hit == GetMemo ]]; then printf ',\n'; fi
    done
    for alternative in LookUpLevelDb LookUpRocksDbLru LookUpRocksDbHyperClock; do
      printf ',\n'
      pair "BM_$alternative$end" "BM_GetMemo$end" "\"at_least\": $at_least"
    done
    for alternative in CopySharedPointer LookUpMutexAndMap LookUpMutexAndFlatHashMap; do
      printf ',\n'
      pair "BM_$alternative$end" "BM_GetMemo$end"
    done
    if ((threads == 1)); then printf ',\n'; fi
  done
  printf ']}\n'
} >"$plan"
# The first lines of one run say which alternatives it was built without.
"$PROGRAM" --benchmark_filter=BM_ReadPlainPointer --benchmark_min_time=0 2>&1 |
  grep -E '^(LevelDB|RocksDB): '
python3 -B tools/bench/row_ratio.py "$plan" "$@"
