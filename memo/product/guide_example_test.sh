#!/usr/bin/env bash
# The guide's example is short, loads each file once, and evicts each model
# before the next one is loaded.
set -euo pipefail
readonly SOURCE=$PWD/$1 EXAMPLE=$PWD/$2 TRACE_REPORT=$PWD/$3
fail() {
  echo "FAILED: $*" >&2
  cat out >&2
  exit 1
}
run() { "$EXAMPLE" --benchmark_min_time=0 "$@" >out 2>&1; }
expect() { grep -qF -- "$1" out || fail "not said: $1"; }

cd "$TEST_TMPDIR"
touch out
line_count=$(awk '/endregion/ {is_in = 0} is_in {++count} /region guide/ {is_in = 1}
  END {print count}' "$SOURCE")
((line_count > 5 && line_count <= 20)) || fail "$line_count lines, not 20"

head -c 4096 /dev/zero | tee model1 model2 model3 >data
run --memo_trace_out=trace.txt || fail "four files"
expect "4 values, 4 loads planned (keep to last use, optimal), 2 alive at most"
for model in model1 model2 model3; do expect "accuracy/model:$model/data:data"; done
# Loads and evictions come in this order.
events=$(awk '$1 == "LOADED" {print "+" $(NF)} $1 == "EVICTED" {print "-" $(NF)}' \
  trace.txt | tr '\n' ' ')
[[ $events == "+model1 +data -model1 +model2 -model2 +model3 -data -model3 " ||
  $events == "+model1 +data -model1 +model2 -model2 +model3 -model3 -data " ]] ||
  fail "other loads and evictions: $events"

# The trace file gives the same text, and other forms.
run --memo_trace_out=trace.binpb || fail "four files again"
unset BUILD_WORKING_DIRECTORY
for form in txt json html; do
  "$TRACE_REPORT" trace.binpb "report.$form" || fail "no report.$form"
done
[[ $(sed 's/ *$//' report.txt) == "$(sed 's/ *$//' trace.txt)" ]] ||
  fail "the report is another text than the run's"
[[ $(head -c 1 report.json) == "{" && $(head -c 1 report.html) == "<" ]] ||
  fail "the report has another form"

rm model2
! run || fail "a missing file passes"
expect "model2: no such file"
expect "accuracy/model:model3/data:data"

run --memo_plan=text || fail "only the plan"
expect "accuracy/model:model2/data:data"

# The help lists both kinds of flags.
run --help || fail "--help"
expect "--memo_budget="
expect "--benchmark_filter"

! run --memo_budgte=1GiB || fail "a flag that nobody knows"
expect "no such flag"
! run --benchmark_fliter=x || fail "a flag of Google Benchmark that it does not know"
expect "--benchmark_fliter"
