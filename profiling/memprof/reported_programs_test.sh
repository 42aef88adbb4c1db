#!/usr/bin/env bash
# Reports of real programs, a Python script and one in C++: source lines beside the figures,
# and a flame graph of Python's functions alone.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
cd "$scratch" || exit 1

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
report --sampling=16KiB python3 script.py
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
  says text "of it was handed out and never touched"
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
measure --sampling=64KiB --html=run.html python3 turns.py || fail "status $? of turns.py"
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

((failures == 0))
