#!/usr/bin/env bash
# A trace becomes a page, and a mistyped command does not overwrite it.
set -uo pipefail
readonly REPORT=$PWD/$1 EXAMPLE=$PWD/$2
unset BUILD_WORKING_DIRECTORY
cd "$TEST_TMPDIR" || exit 2
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect STATUS TEXT ARGUMENT...: checks the exit status, and a text in the output.
expect() {
  local status=$1 text=$2 said actual
  shift 2
  said=$("$REPORT" "$@" 2>&1)
  actual=$?
  [[ $actual == "$status" && $said == *"$text"* ]] && return
  fail "trace_report $*: $actual, not $status, or no '$text' in '$said'"
}

"$EXAMPLE" --benchmark_min_time=0 --benchmark_filter=BM_SumWeights \
  --memo_trace_out=trace >/dev/null 2>&1 || exit 2
expect 0 "" trace page.html
grep -q "<html" page.html || fail "no page in page.html"
expect 0 "usage: trace_report TRACE OUTPUT" --help

cp trace kept
expect 2 "trace: is the trace, and the page would overwrite it" trace trace
expect 2 "would overwrite it" trace ./trace
cmp trace kept || fail "the trace is lost"
for wrong in "" trace "trace --page=page.html" "--output=page.html trace"; do
  # shellcheck disable=SC2086
  expect 2 "usage: trace_report" $wrong
done
[[ ! -e ./--page=page.html ]] || fail "a flag became a page"
expect 2 "none: cannot be opened" none page.html
expect 2 "page.html: is not a memo trace" page.html other.html
expect 2 "make the folder" trace none/page.html
BUILD_WORKING_DIRECTORY=$PWD/none expect 2 "cannot enter $PWD/none" trace page.html
exit $((failures > 0))
