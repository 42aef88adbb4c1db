#!/usr/bin/env bash
# Targets that the rules of defs.bzl make: tests and programs that find their files.
set -uo pipefail
readonly RUNFILES=$PWD
unset XML_OUTPUT_FILE TEST_UNDECLARED_OUTPUTS_DIR
failures=0
# expect STATUS PATTERN COMMAND ...
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$@" >"$TEST_TMPDIR/out" 2>&1
  status=$?
  if ((status != wanted)) || ! grep -qE -- "$pattern" "$TEST_TMPDIR/out"; then
    echo "FAILED: $*: status $status, not $wanted, or no line like: $pattern"
    cat "$TEST_TMPDIR/out"
    failures=$((failures + 1))
  fi
}

mkdir "$TEST_TMPDIR/outputs"
expect 1 'bazel run //gates:tight_gate_test.update' env \
  XML_OUTPUT_FILE="$TEST_TMPDIR/test.xml" \
  TEST_UNDECLARED_OUTPUTS_DIR="$TEST_TMPDIR/outputs" gates/tight_gate_test
grep -q '<failure type="REJECT"' "$TEST_TMPDIR/test.xml" || failures=$((failures + 1))
for kind in txt json xml md; do
  [[ -s "$TEST_TMPDIR/outputs/verdict.$kind" ]] || failures=$((failures + 1))
done
expect 0 '^ACCEPT 1 deployment, 1 benchmark, 3 rules' gates/small_check
expect 0 '^## ACCEPT' gates/small_check --format=markdown
# The programs of a suite that change nothing.
expect 0 '^accept //gates:small' gates/small_explain //gates:small
expect 0 'bazel run //gates:small_update' gates/small_explain //gates:small --all
expect 0 '^1 profiles saved' gates/small_diff --save="$TEST_TMPDIR/kept"
expect 0 '^same: 1 deployment' gates/small_diff "$TEST_TMPDIR/kept"
expect 1 '^found 1 loose' gates/small_audit
expect 0 '<h1>Memory gates: ACCEPT</h1>' gates/small_report --output=-
# --output= is relative to where the person stands.
cd "$TEST_TMPDIR" || exit 2
expect 0 '^ACCEPT' "$RUNFILES/gates/small_check" --format=json --output=here.json
[[ -s "$TEST_TMPDIR/here.json" ]] || failures=$((failures + 1))
cd "$RUNFILES" || exit 2

# Update: outside bazel run, then in a workspace of its own.
unset BUILD_WORKSPACE_DIRECTORY
expect 2 'runs by bazel run only: bazel run //gates:small_update' gates/small_update
readonly WORKSPACE=$TEST_TMPDIR/workspace
mkdir -p "$WORKSPACE/gates/testdata"
cp -L gates/testdata/small*.textproto "$WORKSPACE/gates/testdata"
chmod -R u+w "$WORKSPACE"
export BUILD_WORKSPACE_DIRECTORY=$WORKSPACE
expect 0 '^[+]  max_bytes: 1638400  # two MiB' gates/small_update --dry_run
diff -r gates/testdata "$WORKSPACE/gates/testdata" | grep -v '^Only in gates' && failures=$((failures + 1))
expect 0 'limit 2.00 MiB .* -> 1.56 MiB' gates/small_update
expect 0 'nothing to change' gates/small_update
grep -q 'max_bytes: 1638400  # two MiB' "$WORKSPACE/gates/testdata/small.textproto" || failures=$((failures + 1))

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
