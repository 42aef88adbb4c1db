#!/usr/bin/env bash
# The README's example says its plan, keeps to it, and refuses what cannot be.
set -euo pipefail
readonly EXAMPLE=$1
fail() {
  echo "FAILED: $*" >&2
  cat "$TEST_TMPDIR"/out >&2
  exit 1
}
run() { "$EXAMPLE" --benchmark_min_time=0 "$@" >"$TEST_TMPDIR/out" 2>&1; }
expect() { grep -qF -- "$1" "$TEST_TMPDIR/out" || fail "not said: $1"; }

run --benchmark_filter=BM_SumWeights || fail "the models in succession"
expect "3 values, 3 loads planned (keep to last use, optimal); peak 4194304 bytes"

run --benchmark_filter=BM_Predict || fail "every pair"
expect "5 values, 5 loads planned (keep to last use, optimal); peak 8388608 bytes"

run --benchmark_filter=BM_Predict --memo_budget=6MiB --memo_order=reorder ||
  fail "every pair in 6 MiB"
expect "7 loads planned (exact search, optimal, cells reordered); peak 6291456 bytes"

! run --benchmark_filter=BM_Predict --memo_budget=5MiB || fail "5 MiB cannot do"
expect "the smallest budget that can is 6291456"

! run --benchmark_filter=BM_Fly || fail "nothing matches"
expect "the filter matches no benchmark"
