#!/usr/bin/env bash
# The table over records that record_test made.
set -uo pipefail
readonly REPORT="$PWD/gates/programs/memory_report_main" RECORD="$PWD/gates/test_memory/record_test"
readonly TREE=$PWD
cd "$TEST_TMPDIR" || exit 2
unset BUILD_WORKING_DIRECTORY BUILD_WORKSPACE_DIRECTORY
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS PATTERN ARGUMENT ...: a line of what it says is like PATTERN.
expect() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$REPORT" "$@" >out 2>err
  status=$?
  if ((status != wanted)) || ! cat out err | grep -E -- "$pattern" >/dev/null; then
    fail "$*: status $status, not $wanted, or no line like: $pattern"
    cat out err
  fi
}
# record TEST MIB: the outputs of a test that holds so much.
record() {
  mkdir -p "logs/$1/test.outputs"
  local test=${1%/shard_*}
  TEST_TARGET=//${test%/*}:${test##*/} TEST_UNDECLARED_OUTPUTS_DIR=$PWD/logs/$1/test.outputs \
    "$RECORD" /usr/bin/python3 -c "x = bytearray($2 << 20)"
}
expect 0 'Exit status' --help
expect 2 'with bazel run' --format=text
expect 2 'no folder of test logs' --testlogs=logs
mkdir logs
expect 2 'no test there was recorded' --testlogs=logs
record a/small_test 20
record a/large_test 60
record b/sharded_test/shard_1_of_2 10
record b/sharded_test/shard_2_of_2 40
expect 0 '//a:large_test' --testlogs=logs
[[ $(grep -oE '//[a-z:_]+' out | tr '\n' ' ') == '//a:large_test //b:sharded_test //a:small_test ' ]] || fail "order: $(<out)"
grep -q '//b:sharded_test *shard 2 of 2' out || fail "not the largest shard: $(<out)"
grep -qE '[67][0-9]\.[0-9] MiB +[67][0-9],[0-9]{3},[0-9]{3} .*//a:large_test' out || fail "no figure in MiB beside bytes: $(<out)"
expect 0 'large\\_test' --testlogs=logs --format=markdown
expect 0 '<h1>Memory of tests</h1>' --testlogs=logs --format=html
expect 0 'peak_bytes' --testlogs=logs --format=json
"$REPORT" --testlogs=logs --format=json --output=report.json
cmp out report.json || fail "another file than standard output"
/usr/bin/python3 -c 'import json, sys; rows = json.load(open("out"))["tables"]["tests"]["rows"]; sys.exit(not (len(rows) == 3 and rows[0]["peak_bytes"] > 60 << 20))' ||
  fail "JSON: $(<out)"
mkdir -p workspace
ln -s "$PWD/logs" workspace/bazel-testlogs
BUILD_WORKSPACE_DIRECTORY=$PWD/workspace expect 0 '//a:large_test'
/usr/bin/python3 -B "$TREE/tools/docs/check_outputs.py" --tree="$TREE" gates/test_memory/README.md \
  --command='bazel run //gates:memory_report' <out || fail "README: $(<out)"
# A record that is damaged.
mkdir -p logs/a/cut_test/test.outputs
head -c 40 logs/a/large_test/test.outputs/*.json >logs/a/cut_test/test.outputs/footprint_test_memory.json
expect 1 '//a:cut_test: has no peak: the record is damaged' --testlogs=logs
expect 2 'is not one of: text, json, markdown, html' --testlogs=logs --format=xml
expect 2 'did you mean "testlogs"' --testlog=logs
expect 2 'nothing' --events=nothing

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
