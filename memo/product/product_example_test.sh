#!/usr/bin/env bash
# The README's example prints its plan, keeps to it, and refuses impossible budgets.
set -euo pipefail
readonly EXAMPLE=$1
fail() {
  echo "FAILED: $*" >&2
  cat "$TEST_TMPDIR"/out >&2
  exit 1
}
run() { "$EXAMPLE" --benchmark_min_time=0 "$@" >"$TEST_TMPDIR/out" 2>&1; }
expect() { grep -qF -- "$1" "$TEST_TMPDIR/out" || fail "not said: $1"; }

# Both products use the models, so in the given order all values are alive.
run || fail "both products"
expect "5 values, 5 loads planned (keep to last use, optimal), 5 alive at most; peak 16.0 MiB (16,777,216 B); in another order (--memo_order=reorder) 8.00 MiB (8,388,608 B)"

run --memo_order=reorder || fail "both products in another order"
expect "5 values, 5 loads planned (exact search, optimal, cells reordered), 3 alive at most; peak 8.00 MiB (8,388,608 B)"

run --benchmark_filter=BM_SumWeights || fail "the models in succession"
expect "3 values, 3 loads planned (keep to last use, optimal), 1 alive at most; peak 4.00 MiB (4,194,304 B)"

run --benchmark_filter=BM_Predict || fail "every pair"
expect "5 values, 5 loads planned (keep to last use, optimal), 3 alive at most; peak 8.00 MiB (8,388,608 B)"

run --benchmark_filter=BM_Predict --memo_budget=6MiB --memo_order=reorder ||
  fail "every pair in 6 MiB"
expect "7 loads planned (exact search, optimal, cells reordered), 2 alive at most; peak 6.00 MiB (6,291,456 B)"

! run --benchmark_filter=BM_Predict --memo_budget=5MiB || fail "5 MiB cannot do"
expect "the smallest budget that can is 6291456"

run --memo_budget=auto || fail "what the machine has left"
expect "seven eighths of what"

! run --memo_bugdet=6MiB || fail "a misspelt flag"
expect "unrecognized command-line flag: --memo_bugdet=6MiB"

! run --benchmark_filter=BM_Fly || fail "nothing matches"
expect "the filter matches no benchmark"
