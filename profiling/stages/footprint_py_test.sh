#!/usr/bin/env bash
# Tests stages that Python programs name with footprint.py.
set -uo pipefail

# shellcheck source=profiling/stages/stages_testing.sh
. profiling/stages/stages_testing.sh

mkdir "$scratch/modules"
cp profiling/stages/footprint.py "$scratch/modules/"
export PYTHONPATH=$scratch/modules PYTHONDONTWRITEBYTECODE=1
cd "$scratch" || exit 1

# run SCRIPT: runs it with the agent; it must print the same as without.
run() {
  printf '%s\n' "$1" >script.py
  measure_other /usr/bin/python3 script.py
  /usr/bin/python3 script.py | cmp - output || fail "the output differs: $1"
}

# A bytearray has a byte more than its length: these are blocks of 1 and 4 MiB.
run '
import footprint
with footprint.stage("a") as stage:
    held = bytearray((1 << 20) - 1)
    with footprint.stage("b"):
        del held
        print(len(bytearray((1 << 22) - 1)))
footprint.is_measured()
'
check 'path("a") == "a" and path("b") == "a/b" and not notes' \
  'abs(stage("b")["peak"] - (3 << 20)) < 20000' \
  'stage("a")["peak"] > stage("b")["peak"] and abs(stage("a")["growth"]) < 20000' \
  'abs(stage("b")["growth"] + (1 << 20)) < 20000' 'stage("footprint")["kind"] == "import"'

# A decorator works for functions and coroutines; each call is a visit.
run '
import asyncio, footprint
@footprint.stage("fit")
def fit(depth):
    """Fits."""
    if depth: fit(depth - 1)
    return depth
print(fit(2), fit.__name__, fit.__doc__)
@footprint.stage("wait")
async def wait(seconds):
    await asyncio.sleep(seconds)
    return seconds
async def main():
    print(await asyncio.gather(wait(0.1), wait(0.2)))
asyncio.run(main())
'
check '[s["name"] for s in first["stages"] if s["name"] == "fit"] == ["fit"] * 3' \
  'stage("fit")["visits"] == 1 and stage("wait")["wall_ns"] > 90000000' \
  '"\"wait\" ended before \"wait\"" in notes'
run '
import footprint
for decorated in (lambda: (yield 1)), "text", 7:
    try:
        footprint.stage("g")(decorated) if callable(decorated) else footprint.stage(decorated)
    except TypeError as error:
        print(error)
try:
    footprint.stage(print)
except TypeError as error:
    print(error)
'
[[ $(<output) == *"cannot decorate the generator"*"needs a name"*"needs a name"* ]] ||
  fail "$(<output)"

# Exceptions pass; threads are in the main thread's stages; children inherit.
run '
import footprint, os, threading
try:
    with footprint.stage("main"):
        def work():
            with footprint.stage("work"): bytearray(1 << 20)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if os.fork() == 0:
            with footprint.stage("child"): bytearray(1 << 20)
            os._exit(0)
        os.wait()
        raise KeyError("passes")
except KeyError as error:
    print(error)
'
check 'path("work") == "main/work" and not notes' \
  'path("child", processes[1]) == "main/child"' \
  'stage("child", processes[1])["peak"] > 1000000 and not processes[1]["notes"]'

# An object is used repeatedly; names are any text; figures so far are read.
run '
import footprint
stage = footprint.stage("größer\0\udcff")
for _ in range(3):
    with stage, stage: pass
if footprint.is_measured():
    with stage:
        held = bytearray(1 << 22)
        figures = stage.figures()
        assert (1 << 22) < figures.peak_live_bytes < (1 << 23), figures
        assert figures.peak_live_absolute_bytes > figures.peak_live_bytes
        assert figures.wall_time_ns > 0 and figures.allocation_count > 0
assert stage.figures() is None
'
check 'first["stages"][-1]["name"].startswith("größer?")' \
  '[s["visits"] for s in first["stages"]][-2:] == [4, 3]'

# Arrays of a known size are loaded and saved.
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  run '
import numpy as np
import footprint
with footprint.stage("make"):
    array = np.ones(1 << 20)
np.save("array.npy", array)
with footprint.stage("load"):
    loaded = np.load("array.npy")
with footprint.stage("sum"):
    total = (loaded + array).sum()
print(total)
'
  # 8 MiB, and the bookkeeping of NumPy.
  check 'stage("numpy")["kind"] == "import" and stage("numpy")["peak"] > 1 << 20' \
    '8 << 20 <= stage("make")["peak"] < 11 << 20' \
    '8 << 20 <= stage("load")["growth"] < 11 << 20' \
    '8 << 20 <= stage("sum")["peak"] < 11 << 20 and stage("sum")["growth"] < 1 << 20' \
    'sorted(s["parent"] > 0 for s in first["stages"] if s["name"] == "array.npy") == [False, True]' \
    'all(s["visits"] == 1 for s in first["stages"] if s["kind"] == "file")'
else
  echo "SKIPPED: /usr/bin/python3 has no numpy: apt-get install python3-numpy" >&2
fi

# Nothing is loaded without the agent that the program did not load.
[[ $(/usr/bin/python3 -c '
import sys, footprint
with footprint.stage("a"): pass
print("ctypes" in sys.modules, footprint.is_measured())') == "False False" ]] ||
  fail "a stage does something without memprof"

((failures == 0))
