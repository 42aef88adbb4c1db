#!/usr/bin/env bash
# Imports other tools' files and judges them, and makes the usual mistakes.
set -uo pipefail
readonly IMPORT="$PWD/gates/programs/import_main" CHECK="$PWD/gates/programs/check_main"
readonly FILES="$PWD/gates/importing/testdata"
cd "$TEST_TMPDIR" || exit 2
unset XML_OUTPUT_FILE TEST_UNDECLARED_OUTPUTS_DIR BUILD_WORKING_DIRECTORY
failures=0

# expect STATUS PATTERN COMMAND...
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$@" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | grep -E -- "$pattern" >/dev/null; then
    echo "FAILED: status $status, not $wanted, or no line like: $pattern"
    cat out err
    failures=$((failures + 1))
  fi
}
thresholds() {
  printf '# proto-file: gates/judge/gate.proto\n# proto-message: footprint.ThresholdFile\nschema_version: 1\n%s\n' "$2" >"$1.textproto"
}

expect 0 'whole program: peak live requested .*4,080,896 B' "$IMPORT" "$FILES/massif.out"
expect 0 'BM_Load/rows:2000.*1,600,000 B' "$IMPORT" "$FILES/google_benchmark.json"
# The highest of several dumps counts.
expect 0 'the highest of 2 files' "$IMPORT" --label=//a:b --benchmark=serve \
  --output=p.binpb "$FILES/gperftools.2.heap" "$FILES/gperftools.1.heap"

# Limits judge an imported profile, although it is not of three processes.
printf 'profile\tp.binpb\t//a:b\nthresholds\tlimit.textproto\n' >manifest
thresholds limit 'threshold { selector { label: "//a:b" benchmark: "serve" } metric: PEAK_LIVE_REQUESTED_BYTES max_bytes: 3992192 }'
expect 0 'of STATISTICAL' "$CHECK" --manifest=manifest --all
expect 0 'imported from gperftools: requested bytes' "$CHECK" --manifest=manifest --all
thresholds limit 'threshold { selector { label: "//a:b" benchmark: "serve" } metric: PEAK_LIVE_REQUESTED_BYTES max_bytes: 3992191 }'
expect 1 '^REJECT' "$CHECK" --manifest=manifest
# Exact values never judge it, nor limits of another metric.
thresholds limit 'environment { compiler: "gcc" } threshold { selector { label: "//a:b" benchmark: "serve" } metric: PEAK_LIVE_REQUESTED_BYTES exact_bytes: 3992192 }'
expect 5 'ENVIRONMENT_MISMATCH' "$CHECK" --manifest=manifest
thresholds limit 'threshold { selector { label: "//a:b" benchmark: "serve" } metric: PEAK_LIVE_REQUESTED_BYTES min_bytes: 3992192 max_bytes: 3992192 }'
expect 2 'STATISTICAL' "$CHECK" --manifest=manifest
thresholds limit 'threshold { selector { label: "//a:b" benchmark: "serve" } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 3992192 }'
expect 2 'peak_live_usable_bytes is not in the profile' "$CHECK" --manifest=manifest

# Mistakes.
head -c 5000 "$FILES/massif.out" >cut.out
expect 2 'cut.out: is cut short' "$IMPORT" cut.out
expect 2 'import_main: is in none of the supported formats' "$IMPORT" "$IMPORT"
: >empty
expect 2 'empty: is empty' "$IMPORT" empty
expect 2 'none: cannot be opened' "$IMPORT" none
expect 2 'names no file' "$IMPORT"
expect 2 '--output needs --label' "$IMPORT" --output=x.binpb "$FILES/massif.out"
expect 2 '--output needs --label' "$IMPORT" --output=x.binpb --label=a "$FILES/massif.out"
[[ -e x.binpb ]] && { echo "a profile without a label"; failures=$((failures + 1)); }
expect 2 'heaptrack.txt: is of heaptrack, and the files before it are of massif' \
  "$IMPORT" "$FILES/massif.out" "$FILES/heaptrack.txt"
expect 2 'there is no flag --labell [(]did you mean "label"[?][)]' "$IMPORT" --labell=x
cp "$FILES/massif.out" own.out
expect 2 'own.out would overwrite a file that is read' \
  "$IMPORT" --label=//a:b --output=./own.out own.out
cmp own.out "$FILES/massif.out" || { echo "the file that was read is another"; failures=$((failures + 1)); }
expect 2 '--benchmark= needs a name' "$IMPORT" --benchmark= "$FILES/massif.out"
expect 2 'cannot be created' "$IMPORT" --label=//a:b --output=/nowhere/x "$FILES/massif.out"
expect 0 'Exit status' "$IMPORT" --help

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
