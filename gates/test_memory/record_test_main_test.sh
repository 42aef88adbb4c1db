#!/usr/bin/env bash
# A test that runs under record_test behaves as it does alone.
set -uo pipefail
readonly RECORD="$PWD/gates/test_memory/record_test"
cd "$TEST_TMPDIR" || exit 2
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
export TEST_UNDECLARED_OUTPUTS_DIR=$PWD/outputs TEST_TARGET=//app:load_test
mkdir outputs
readonly FILE=outputs/footprint_test_memory.json
field() { sed -nE "s/^  \"$1\": \"?([^\",]*)\"?,?$/\1/p" "$FILE"; }

# recorded STATUS END NUMBER SCRIPT: by itself and under record_test alike.
recorded() {
  local status=$1 end=$2 number=$3 alone under
  rm -f "$FILE"
  alone=$(bash -c "$4" a 'b c' 2>err_alone <<<input)
  alone="$? $alone"
  under=$("$RECORD" bash -c "$4" a 'b c' 2>err_under <<<input)
  under="$? $under"
  [[ $alone == "$under" ]] || fail "$4: '$under', not '$alone'"
  [[ ${under%% *} == "$status" ]] || fail "$4: status ${under%% *}, not $status"
  cmp err_alone err_under || fail "$4: another standard error"
  [[ $(field end) == "$end" && $(field end_number) == "$number" ]] || fail "$4: $(<"$FILE")"
}
# shellcheck disable=SC2016  # the measured shell expands it
recorded 0 exited 0 'echo "$0 $1"; cat; echo oops >&2'
recorded 3 exited 3 'exit 3'
recorded 255 exited 255 'exit 255'
recorded 143 signalled 15 'kill -TERM $$'
recorded 137 signalled 9 'kill -KILL $$'
recorded 134 signalled 6 'ulimit -c 0; kill -ABRT $$'
# The environment, the folder and the dispositions of signals are the caller's.
recorded 0 exited 0 'env | grep -v "^_=" | sort; pwd; umask'
recorded 0 exited 0 'grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status; ls /proc/self/fd | wc -l'
trap '' CHLD PIPE
recorded 0 exited 0 'grep SigIgn /proc/self/status'
trap - CHLD PIPE
[[ $(field target) == //app:load_test ]] || fail "the target is $(field target)"

# No program, and one that is not there.
"$RECORD" 2>err
[[ $? == 2 ]] && grep -q 'no test is named' err || fail "without a test: $(<err)"
"$RECORD" ./nothing 2>err
[[ $? == 127 ]] && grep -q 'nothing cannot be run' err || fail "a missing test: $(<err)"
touch no_program
"$RECORD" ./no_program 2>err
[[ $? == 126 ]] || fail "a test that may not be run"

# The peak of the test, and of what it starts.
rm "$FILE"
"$RECORD" /usr/bin/python3 -c 'x = bytearray(64 << 20)'
peak=$(field peak_resident_bytes)
((peak > 64 << 20 && peak < 96 << 20)) || fail "64 MiB: $peak"
"$RECORD" /usr/bin/python3 -c '
import subprocess, sys
hold = "import time; x = bytearray(32 << 20); time.sleep(1)"
for each in [subprocess.Popen([sys.executable, "-c", hold]) for _ in range(2)]: each.wait()'
peak=$(field peak_resident_bytes)
((peak > 64 << 20 && $(field process_count) == 3)) || fail "two children: $peak, $(field process_count)"

# A signal to the whole group, as Bazel sends it at a timeout: the test decides
# how it ends.
rm "$FILE"
setsid "$RECORD" bash -c 'trap "echo stopping; exit 5" TERM; echo ready >started; while :; do sleep 0.01; done' >out &
recorder=$!
until [[ -s started ]]; do sleep 0.01; done
kill -TERM -- -"$recorder"
wait "$recorder"
[[ $? == 5 && $(<out) == stopping && $(field end_number) == 5 ]] || fail "SIGTERM: $(<out) $(<"$FILE")"
# Killed with all of its group, it leaves the record of what was seen.
rm "$FILE" started
setsid "$RECORD" /usr/bin/python3 -c '
import time
x = bytearray(48 << 20)
time.sleep(1.5)
open("started", "w").write("1")
time.sleep(600)' &
recorder=$!
until [[ -s started ]]; do sleep 0.01; done
kill -KILL -- -"$recorder"
wait "$recorder"
[[ $(field end) == running ]] && (($(field peak_resident_bytes) > 48 << 20)) || fail "SIGKILL: $(<"$FILE")"

# No folder for outputs: the test alone. A folder that cannot be written: no
# record, and the test as ever.
rm "$FILE"
# shellcheck disable=SC2016  # the measured shell expands it
[[ $(env -u TEST_UNDECLARED_OUTPUTS_DIR "$RECORD" bash -c 'cat /proc/$PPID/comm; true') != record_test ]] ||
  fail "without a folder it stays the parent"
[[ -e $FILE ]] && fail "a record without a folder"
TEST_UNDECLARED_OUTPUTS_DIR=$PWD/nowhere "$RECORD" bash -c 'exit 4' 2>err
[[ $? == 4 && ! -s err ]] || fail "a folder that is not there: $(<err)"

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
