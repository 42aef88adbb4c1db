#!/usr/bin/env bash
# Reports of real programs, a Python script and one in C++: source lines beside the figures,
# and a flame graph of Python's functions alone.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
cp "$2" "$scratch/footprint.py"
cd "$scratch" || exit 1
# Not a wrapper that starts many shells before the interpreter.
python=$(command -v /usr/bin/python3 || command -v python3)

# report ARGUMENT...: text, page and record of a run; standard error is the text.
report() {
  measured="$*"
  timeout 100 "$memprof" --html=run.html --record=run.run "$@" >output 2>text ||
    fail "status $? of $*: $(tail -n 3 text)"
}

# says FILE TEXT, lacks FILE TEXT
says() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1 of $measured: $(head -c 3000 "$1")"; }
lacks() { ! grep -qF -- "$2" "$1" || fail "'$2' is in $1 of $measured"; }

cat >script.py <<'PYTHON'
import json

def load(count):
    return [float(row) for row in range(count)]  # a list of floats

def unused():
    secret_line = 1

rows = load(200000)
text = json.dumps(rows)
PYTHON
sleep 0.1
report --sampling=16KiB "$python" script.py
says text "return [float(row) for row in range("
says text "text = json.dumps(rows)"
says run.html "return [float(row) for row in range(count)]  # a list"
lacks run.html "secret_line"
says run.html ">Python and native</label>"

# The record, read again: the same lines, as long as the script is as it was.
timeout 60 "$memprof" --from=run.run >text || fail "--from: status $?"
says text "return [float(row) for row in range("
printf '\n# changed\n' >>script.py
timeout 60 "$memprof" --from=run.run --html=run.html >text || fail "--from: status $?"
lacks text "return [float"
lacks run.html "return [float"
rm script.py
timeout 60 "$memprof" --from=run.run >text || fail "--from: status $?"
says text "script.py:4"

# A program with debug information.
cat >hold.cc <<'CC'
#include <vector>
__attribute__((noinline)) static std::vector<char>* Load() {
  return new std::vector<char>(8 << 20, 1);  // eight mebibytes
}
int main() { return Load()->size() == 0; }
CC
if g++ -g -O1 -fno-builtin -o hold hold.cc 2>/dev/null; then
  report ./hold
  says text "return new std::vector<char>(8 << 20, 1);"
  says run.html "return new std::vector&lt;char&gt;(8 &lt;&lt; 20, 1);"
  lacks run.html ">Python and native</label>"
fi

# Memory that was never touched does not lead.
cat >ask.cc <<'CC'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main() {
  char* all = (char*)malloc(256 << 20);
  memset(all, 1, 20 << 20);
  usleep(100000);
  return all[5] == 0;
}
CC
if g++ -O1 -fno-builtin -o ask ask.cc 2>/dev/null; then
  report ./ask
  [[ $(sed -n 3p text) == "resident  "* ]] || fail "the first figure is $(sed -n 3p text)"
  says text "of it was allocated and never touched"
fi

# Who held the bytes at any time: two functions, one after the other.
cat >turns.py <<'PYTHON'
import time

def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        bytes(1000)

def first():
    held = bytearray(30_000_000)
    work(0.5)

def second():
    held = bytearray(20_000_000)
    work(0.5)

first()
work(0.5)
second()
PYTHON
measure --sampling=64KiB --html=run.html "$python" turns.py || fail "status $? of turns.py"
python3 - run.json <<'PYTHON' || fail "moments of turns.py"
import json, sys
run = json.load(open(sys.argv[1]))
process = max(run["processes"], key=lambda each: each["peak_live_bytes"])
functions = [run["frames"][call["frame"]].get("function") for call in run["calls"]]

def holds(moment, function):
    """Bytes of stacks that the function is part of."""
    total = 0
    for call, size in zip(moment.get("calls", []), moment.get("bytes", [])):
        at = call
        while at != 0:
            if functions[at - 1] == function:
                total += int(size)
                break
            at = run["calls"][at - 1].get("parent", 0)
    return total

turns = []
for moment in process["moments"]:
    first, second = holds(moment, "first"), holds(moment, "second")
    assert first < 200_000 or 30_000_000 <= first < 30_200_000, first
    turns.append("first" if first > 29_000_000 else "second" if second > 19_000_000 else "none")
    assert first < 29_000_000 or second == 0
order = [turn for i, turn in enumerate(turns) if i == 0 or turn != turns[i - 1]]
assert order == ["none", "first", "none", "second"], order
PYTHON
says run.html '"moment":'

# What a stage allocated and did not give back, with counts; and the same for other programs.
cat >leak.py <<'PYTHON'
import ctypes
import footprint

malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
malloc.argtypes = [ctypes.c_size_t]

def keep(count):
    for _ in range(count):
        malloc(10248)

with footprint.stage("warm"):
    keep(10)
with footprint.stage("serve"):
    keep(70)
with footprint.stage("stop"):
    keep(20)
PYTHON
report --sampling=0 --stages=named --speedscope=run.speedscope.json --csv=run.csv "$python" leak.py
# By the line of the interpreter that called malloc where that is known, else by the script's.
grep -E "^ +70[01] KiB +70 +serve +" text >/dev/null || fail "serve's blocks are not told: $(<text)"
grep -E "^ +100 KiB +10 +warm +" text >/dev/null || fail "warm's blocks are not told"
says text "malloc(10248)"
timeout 60 "$memprof" --from=run.run --left=serve,stop --html=run.html >text || fail "--left: status $?"
says text "allocated in stages that began from serve on and before stop"
grep -E "^ +70[01] KiB +70 +serve " text >/dev/null || fail "serve's blocks are not told by --left"
grep -E "KiB +[0-9]+ +(warm|stop) " text >/dev/null && fail "--left tells of other stages: $(<text)"
says run.html "began from serve on and before stop"
timeout 60 "$memprof" --from=run.run --left=none >text || fail "--left=none: status $?"
says text "no stage is called none"
python3 - run.speedscope.json run.csv <<'PYTHON' || fail "speedscope's file, or the table, of leak.py"
import csv, json, sys
file = json.load(open(sys.argv[1]))
frames = [frame["name"] for frame in file["shared"]["frames"]]
left = max((p for p in file["profiles"] if p["name"].startswith("left at exit")),
           key=lambda p: p["endValue"])
assert sum(left["weights"]) == left["endValue"]
kept = sum(weight for sample, weight in zip(left["samples"], left["weights"])
           if "keep" in [frames[i] for i in sample])
assert 100 * 10248 <= kept <= 100 * 10264 + 2000, kept
with open(sys.argv[2], newline="") as table:
    row = max(csv.DictReader(table), key=lambda each: int(each["left_bytes"] or 0))
assert int(row["left_blocks"]) == 100, row
assert 100 * 10248 <= int(row["left_bytes"]) <= 100 * 10264, row
assert row["function"] and row["file"], row
PYTHON

((failures == 0))
