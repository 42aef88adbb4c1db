#!/usr/bin/env bash
# Tests scaling with programs and command lines of every kind.
set -uo pipefail

scaling=$PWD/$1
print_profile=$PWD/$2
scratch=$TEST_TMPDIR
failures=0
export TMPDIR=$scratch
cd "$scratch" || exit 2

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect STATUS TEXT ARGUMENT...: the exit status, and the output or error.
expect() {
  local status=$1 text=$2 actual=0
  shift 2
  "$scaling" "$@" >output 2>error || actual=$?
  ((actual == status)) || fail "status $actual, not $status, of: $*"
  [[ $(cat output error) == *"$text"* ]] ||
    fail "'$text' is not in '$(cat output error)', from: $*"
}

cat >hold.py <<'PYTHON'
import sys
megabytes, copies = int(sys.argv[1]), int(sys.argv[2])
print("the program's own output")
if megabytes == 13: sys.exit("an unlucky number")
held = [bytearray((megabytes << 20) - 1) for _ in range(copies)]
PYTHON
program=(/usr/bin/python3 hold.py "{megabytes}" "{copies}")

expect 0 "1.0 MiB x megabytes x copies + " \
  --grid="megabytes=2,8,32 copies=1,2,4" --html=report.html --json=report.json \
  --proto=report.binpb --name=first "${program[@]}"
grep -q "the program's own output" output && fail "the output is mixed up"
[[ $(grep -c "^run . of 9: megabytes=" error) == 9 ]] ||
  fail "no line a run: $(cat error)"
[[ $(<error) == *"run 9 of 9: megabytes=32 copies=4: 1"* ]] ||
  fail "the largest run is not the last: $(cat error)"
grep -q "<title>Memory over the variables" report.html || fail "no page"
python3 -c "
import json
report = json.load(open('report.json'))
assert len(report['runs']) == 9, report
law = report['laws'][0]
assert law['figure'] == 'peak' and law['worst_error'] < 0.01, law
assert law['largest_size_error'] < 0.02, law
" || fail "the JSON"
[[ $("$print_profile" report.binpb) == *"first/megabytes:2/copies:1"* ]] ||
  fail "the profile: $("$print_profile" report.binpb)"

# If one run fails, the others go on.
expect 1 "not measured: hold megabytes=13 copies=1: exit status 1: an unlucky" \
  --grid="megabytes=1,13,20 copies=1" "${program[@]}"
[[ $(<output) == *"20"* ]] || fail "no run after the one that failed"
expect 1 "ended by signal 9 (killed, often for want of memory)" \
  --grid="n=1" sh -c 'kill -9 $$ {n}'

# A program inherits no open files of scaling.
cat >files.py <<'PYTHON'
import os, sys
files = {f: os.readlink("/proc/self/fd/" + f) for f in os.listdir("/proc/self/fd")
         if int(f) > 2 and os.path.exists("/proc/self/fd/" + f)}
sys.exit("no more of them" if "/dev/null" not in files.values() else str(files))
PYTHON
expect 1 "no more of them" --grid="n=1" /usr/bin/python3 files.py "{n}"

# Runs that would not fit into memory are left out.
expect 1 "left out: by the runs before it would need about" \
  --grid="megabytes=1,2,4,8,100000000 copies=1" "${program[@]}"

# Several programs are compared, also with earlier measurements.
expect 0 "second" --variables=megabytes,copies --with=report.binpb \
  --with=second:report.binpb
expect 2 "has no argument \"rows\"" --variables=rows --with=report.binpb
expect 2 "none.binpb" --grid="n=1" --with=none.binpb sh -c "exit {n}"

expect 2 "is empty" --grid= "${program[@]}"
expect 2 "is empty" "${program[@]}"
expect 2 "has no values" --grid="megabytes=" "${program[@]}"
expect 2 "did you mean \"megabites\"?" \
  --grid="megabites=1 copies=1" "${program[@]}"
expect 2 "uses the variable rows" \
  --grid="megabytes=1 copies=1 rows=1" "${program[@]}"
expect 2 "the brace in --rows={rows is not closed" \
  --grid="rows=1" sh -c "exit 0" "--rows={rows"
expect 2 "did you mean \"--grid\"" --gird=a "${program[@]}"
expect 2 "which program?" --grid="n=1"
expect 2 "is in no folder of PATH" --grid="n=1" no_such_program_anywhere "{n}"
expect 2 "none/x.html" --grid="n=1" --html=none/x.html sh -c "exit {n}"
expect 0 "--grid=" --help

((failures == 0))
