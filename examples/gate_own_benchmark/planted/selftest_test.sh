#!/usr/bin/env bash
# Tests the programs of an importer's gates: they find a planted regression, and
# name this workspace's targets.
set -euo pipefail
out=$TEST_TMPDIR/out

# expect STATUS TEXT PROGRAM FLAG...: checks the exit status, and a line of the
# output.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$out" 2>&1 || status=$?
  if ((status != wanted)) || ! grep -qe "$text" "$out"; then
    echo "FAILED: $*: status $status, not $wanted, or no '$text' in:"
    cat "$out"
    exit 1
  fi
}

expect 0 '^ACCEPT' planted/memory
expect 0 '^PASSED' planted/selftest --count=6 --benchmarks=1
expect 0 'bazel run //planted:memory ' planted/memory --help
expect 0 'bazel run //planted:update_memory ' planted/update_memory --help
expect 0 'bazel run //planted:explain_memory ' planted/explain_memory --help
expect 0 'bazel run //planted:selftest ' planted/selftest --help
for program in memory update_memory explain_memory selftest; do
  "planted/$program" --help >"$out"
  if grep -qe '[^t]//gates:' "$out"; then
    echo "FAILED: planted/$program --help names a target that is not here:"
    grep -e '//gates:' "$out"
    exit 1
  fi
done
