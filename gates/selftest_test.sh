#!/usr/bin/env bash
# A small part of `bazel run //gates:selftest`: the sample benchmarks alone.
set -euo pipefail
readonly SELFTEST=gates/sample_selftest
out=$TEST_TMPDIR/out

# expect STATUS TEXT FLAG...: how it ends, and a line of what it says.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$SELFTEST" "$@" >"$out" 2>&1 || status=$?
  if ((status != wanted)) || ! grep -qe "$text" "$out"; then
    echo "FAILED: $SELFTEST $*: status $status, not $wanted, or no '$text' in:"
    cat "$out"
    exit 1
  fi
}

expect 0 '^PASSED 16 regressions planted, 16 caught, 0 missed, 0 not planted$' --count=16 --benchmarks=4
# Fewer places than were asked for are no success.
expect 1 '^Only [0-9]* of 100000 regressions have a place' --count=100000 --benchmarks=1
expect 2 'must be a whole number above 0' --count=0
expect 2 'no program named in' --only=//no:such
expect 0 'Plants regressions into running programs' --help
