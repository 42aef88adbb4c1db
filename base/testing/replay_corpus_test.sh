#!/usr/bin/env bash
# Tests of replay_corpus's promises: every file is tried, a finding fails the test.
set -uo pipefail
program=base/testing/refuses_a_crash
failures=0
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$program" "$@" >"$TEST_TMPDIR/output" 2>&1 || status=$?
  [[ $status == "$wanted" ]] && grep -qF -- "$text" "$TEST_TMPDIR/output" && return
  echo "FAILED: $* gave $status, not $wanted, or lacks '$text':" >&2
  cat "$TEST_TMPDIR/output" >&2
  failures=$((failures + 1))
}
cd "$TEST_SRCDIR/$TEST_WORKSPACE" || exit 2
printf 'good' >"$TEST_TMPDIR/good"
printf 'crash' >"$TEST_TMPDIR/bad"
expect 0 "2 files, no finding" "$TEST_TMPDIR/good" "$TEST_TMPDIR/good"
expect 134 "no file begins with crash" "$TEST_TMPDIR/good" "$TEST_TMPDIR/bad"
expect 134 "$TEST_TMPDIR/bad" "$TEST_TMPDIR/good" "$TEST_TMPDIR/bad"
expect 2 "usage" # no file: nothing would be tested
expect 2 "cannot be read" "$TEST_TMPDIR/none"
((failures == 0))
