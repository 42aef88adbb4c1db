#!/usr/bin/env bash
# Tests a gate of `memory_gate` without a threshold file. Its update writes the
# first one, which the judge accepts, and its test names that command.
set -uo pipefail
readonly UPDATE=$PWD/$1 GATE=$PWD/$2 MANIFEST=$PWD/$3 CHECK=$PWD/$4
readonly WORKSPACE=$TEST_TMPDIR/workspace OUT=$TEST_TMPDIR/out
readonly FIRST=$WORKSPACE/gates/programs/first_gate_thresholds.textproto
mkdir -p "${FIRST%/*}" || exit 2
export BUILD_WORKSPACE_DIRECTORY=$WORKSPACE
unset XML_OUTPUT_FILE TEST_UNDECLARED_OUTPUTS_DIR
failures=0
fail() {
  echo "FAILED: $*"
  cat "$OUT"
  failures=$((failures + 1))
}
# expect STATUS PATTERN COMMAND ...
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$@" >"$OUT" 2>&1
  status=$?
  ((status == wanted)) || fail "status $status, not $wanted: $*"
  grep -qE -- "$pattern" "$OUT" || fail "no line like: $pattern"
}

expect 2 'BAD_CONFIGURATION' "$GATE"
grep -q 'bazel run //gates/programs:first_gate.update' "$OUT" ||
  fail "the test does not say how to begin"

expect 0 '^[+].*PEAK_LIVE_USABLE_BYTES' "$UPDATE" --dry_run
[[ ! -e $FIRST ]] || fail "--dry_run wrote the file"

expect 0 'added //gates/programs:first_gate_program' "$UPDATE"
grep -q 'thresholds.textproto: is new; check it in' "$OUT" || fail "no next step"
[[ -s $FIRST ]] || fail "no file was written"
# The heap's peak repeats, so its limit is exact; the whole process has
# headroom.
grep -qE '^ *exact_bytes: 1[0-9]{6}$' "$FIRST" || fail "no exact peak: $(cat "$FIRST")"
grep -q 'whole_process/first_gate_profile' "$FIRST" || fail "no limit for the whole process"
grep -q '^environment {' "$FIRST" || fail "the file names no environment"

{
  cat "$MANIFEST"
  printf 'thresholds\t%s\n' "$FIRST"
} >"$TEST_TMPDIR/manifest"
expect 0 '^ACCEPT' "$CHECK" --manifest="$TEST_TMPDIR/manifest"

# A rejection names the line that holds the bytes.
sed -E -i.kept '/^environment/,/^}/!s/(exact_bytes|new_value): 1[0-9]{6}$/\1: 1000000/' "$FIRST"
expect 1 '^REJECT //gates/programs:first_gate_program' "$CHECK" --manifest="$TEST_TMPDIR/manifest"
tr -s '\n ' ' ' <"$OUT" | grep -E 'held at the peak: [0-9.]+ MiB by site:main \(first_gate_program.cc:[0-9]+\)' >/dev/null ||
  fail "no line: $(cat "$OUT")"
mv "$FIRST.kept" "$FIRST"

# An existing file that the gate does not name is not overwritten.
cp "$FIRST" "$TEST_TMPDIR/before"
expect 2 'does not fit' "$UPDATE"
cmp -s "$FIRST" "$TEST_TMPDIR/before" || fail "the first file was changed"
# A file named by --file has priority over the default one.
expect 0 'other.textproto' "$UPDATE" --add --file=other.textproto
[[ -s $WORKSPACE/other.textproto ]] || fail "--file= is not obeyed"

((failures == 0))
