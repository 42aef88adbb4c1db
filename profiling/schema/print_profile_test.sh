#!/usr/bin/env bash
# Tests print_profile with real outputs of memory_profile, and with bad files.
set -uo pipefail
readonly PRINT="$PWD/profiling/schema/print_profile"
readonly PROFILE="$PWD/profiling/google_benchmark/sample_benchmark_profile.profile.binpb"
cd "$TEST_TMPDIR" || exit 2
unset BUILD_WORKING_DIRECTORY
failures=0
# expect STATUS PATTERN ARGUMENT ...
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$PRINT" "$@" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | grep -E -- "$pattern" >/dev/null; then
    echo "FAILED: $*: status $status, not $wanted, or no line like: $pattern"
    cat out err
    failures=$((failures + 1))
  fi
}

expect 0 '^//profiling/google_benchmark:sample_benchmark$' "$PROFILE"
expect 0 '^  peak live  +8[.]00 MiB [(]8,388,608 B[)]  EXACT$' "$PROFILE"
expect 0 '"label": "//profiling/google_benchmark:sample_benchmark"' --format=json "$PROFILE"
python3 - <<'END' || failures=$((failures + 1))
import json
profile = json.load(open("out"))
values = [m["value"] for b in profile["benchmarks"] for m in b["metrics"]
          if b["name"] == "BM_HoldBlock/mebibytes:8" and m["kind"] == "PEAK_LIVE_USABLE_BYTES"]
assert values == [8388608], values
END
cp "$PROFILE" here.binpb
BUILD_WORKING_DIRECTORY=$PWD expect 0 'sample_benchmark' here.binpb

# Files that are missing, cut short, damaged, foreign or empty do not stop the
# others from being printed.
expect 1 'none.binpb: cannot be opened' none.binpb
head -c 100 "$PROFILE" >cut.binpb
expect 1 'cut short or damaged' cut.binpb
printf 'x' | cat here.binpb - >longer.binpb
expect 1 'longer.binpb: ' longer.binpb
echo 'not a profile' >foreign.binpb
expect 1 'is no memory profile' foreign.binpb
: >empty.binpb
expect 1 'is empty' empty.binpb
expect 1 '^//profiling/google_benchmark:sample_benchmark$' empty.binpb "$PROFILE"

expect 2 'name a file' --format=json
expect 2 'there is no flag --fromat=json' --fromat=json "$PROFILE"
expect 2 'use --format=text or --format=json' --format=yaml "$PROFILE"
expect 0 'Exit status' --help
"$PRINT" "$PROFILE" >/dev/full 2>err
(($? == 1)) && grep -q 'cannot be written' err || { echo "a full disk went unnoticed"; failures=$((failures + 1)); }

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
