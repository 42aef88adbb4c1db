#!/usr/bin/env bash
# Tests the stages that the agent records of programs whose memory is known.
set -uo pipefail

# shellcheck source=profiling/stages/stages_testing.sh
. profiling/stages/stages_testing.sh

# Figures are exact.
measure hold=2 begin=load hold=5 drop=3 churn=2 end begin=fit hold=1 end
check 'figures("load") == [5, 7, 7, 2]' 'figures("fit") == [1, 1, 1, 1]' \
  'stage("load")["absolute"] - stage("fit")["absolute"] == 2 * B' \
  'first["peak_live_bytes"] == stage("load")["absolute"]' \
  'first["stages"][first["peak_stage"]]["name"] == "load"' \
  'first["at_peak_by_stage"]["1"] == 5 * B' \
  'first["stages"][0]["kind"] == "none" and not notes' \
  '0 < stage("load")["begin_ns"] < stage("fit")["begin_ns"]' \
  'stage("load")["wall_ns"] > 0 and not stage("load")["left_open"]'

# A stage's peak is the highest of its visits; its other figures are their sums.
# A visit's peak does not include another visit, nor what came before.
measure hold=9 drop=9 begin=a hold=4 drop=4 end begin=a hold=2 end begin=a end
check 'figures("a") == [4, 6, 6, 2]' 'stage("a")["visits"] == 3'
measure visits=100000
check 'stage("visit")["visits"] == 100000' 'len(first["stages"]) == 2' \
  'figures("visit") == [1, 100000, 100000, 0]' 'not notes'

# Stages form a tree: the same name at another place is another stage.
measure begin=a hold=1 begin=b hold=2 drop=2 end end begin=b hold=1 end
check 'path("a") == "a" and [s["parent"] for s in first["stages"]] == [0, 0, 1, 0]' \
  'figures("a") == [3, 3, 3, 1] and figures("b") == [2, 2, 2, 0]' \
  'first["stages"][3]["peak"] == B'

# A stage is the process's: what other threads allocate counts, and their stages
# are inside of the main thread's.
measure begin=a thread begin=b hold=3 end join end
check 'path("b") == "a/b"' 'figures("b") == [3, 3, 3, 3]' \
  'stage("a")["growth"] >= 3 * B' 'not notes'

# Ends that do not match a begin are noted.
measure end end begin=a hold=1 end end
check 'figures("a") == [1, 1, 1, 1]' '"3 ends of a stage matched no open stage" in notes'
measure begin=a thread end join hold=1
check '"another thread than its begin" in notes' 'stage("a")["growth"] < B'
measure begin=a thread begin=b join hold=1 end hold=1
check '"another thread" not in notes' 'not stage("a")["left_open"]' \
  'figures("b") == [2, 2, 2, 2] and stage("b")["left_open"]'
measure open=a open=b hold=1 close=0 hold=1 close=1 close=1
check '"\"a\" ended before \"b\"" in notes and "1 ends of a stage matched" in notes' \
  'figures("a")[0] == 1 and figures("b")[0] == 2'

# Stages that are left open are noted.
measure begin=a hold=2 begin=b hold=1
check 'figures("a") == [3, 3, 3, 3] and figures("b") == [1, 1, 1, 1]' \
  'stage("a")["left_open"] and not stage("a")["lacks_last_visit"]' \
  '"\"a\" was not ended" in notes and "\"b\" was not ended" in notes'
measure begin=a hold=2 _exit
check 'figures("a") == [2, 2, 2, 2] and stage("a")["left_open"]'
# An open visit of a process that is killed has the process's peak, and earlier
# visits.
measure begin=a hold=1 end begin=a hold=2 drop=1 kill 2>/dev/null
check 'stage("a")["left_open"] and stage("a")["lacks_last_visit"]' \
  'figures("a") == [2, 1, 1, 1] and stage("a")["visits"] == 2' \
  'stage("a")["absolute"] == first["peak_live_bytes"]' '"was still open" in notes'

# The child of a fork is inside its parent's stages, whose figures are the
# parent's so far.
measure begin=a hold=3 begin=b fork hold=1 end begin=c hold=2 end parent end end
check 'len(processes) == 2 and processes[1]["is_fork"]' \
  'figures("a") == [3, 3, 3, 3]' \
  'path("c", processes[1]) == "a/c" and path("b", processes[1]) == "a/b"' \
  'figures("a", processes[1]) == [3, 3, 3, 3]' \
  'figures("b", processes[1]) == [1, 1, 1, 1]' \
  'figures("c", processes[1]) == [2, 2, 2, 2]' \
  'stage("a", processes[1])["is_inherited"] and not stage("a", processes[1])["left_open"]' \
  'not stage("c", processes[1])["is_inherited"] and not processes[1]["notes"]'
measure begin=a thread begin=b fork hold=1 end end parent end join end
check 'path("b", processes[1]) == "a/b" and not processes[1]["notes"]' \
  'figures("b", processes[1])[0] == 1'
measure begin=a vfork hold=1 end
check 'len(processes) == 1 and figures("a")[0] == 1 and not notes'
measure begin=a hold=1 exec begin=b hold=2 end
check 'len(processes) == 2 and stage("a")["lacks_last_visit"]' \
  'figures("b", processes[1]) == [2, 2, 2, 2]'

# A program with too many stages of every kind still runs.
measure deep=300 begin=a hold=1 end
check 'figures("a") == [1, 1, 1, 1]' '"44 visits of stages were not recorded" in notes' \
  'stage("deep 0")["volume"] == B and stage("deep 200")["unmeasured"] == 1' \
  'stage("deep 255")["visits"] == 1'
# Ends without a number end the visit that the thread began last, whether or not
# it is recorded.
mapfile -t full < <(printf 'open=x%.0s\n' {1..256})
measure thread "${full[@]}" join begin=lost close=0 begin=a hold=1 end hold=1 end hold=1
check 'figures("a") == [1, 1, 1, 1] and not stage("a")["left_open"]' \
  '"1 visits of stages were not recorded" in notes' '"another thread" not in notes'
measure thread "${full[@]}" join begin=lost close=0 begin=a begin=lost hold=1 end hold=1 end \
  hold=1 end hold=1
check 'figures("a") == [2, 2, 2, 2] and not stage("a")["left_open"]' \
  '"2 visits of stages were not recorded" in notes' '"another thread" not in notes'
# The visit that is not recorded, the 256th that is opened, ends before "a".
measure thread "${full[@]}" join open=lost close=0 begin=a close=256 begin=lost hold=1 end \
  hold=1 end hold=1
check 'figures("a") == [2, 2, 2, 2] and not stage("a")["left_open"]' \
  '"2 visits of stages were not recorded" in notes' '"another thread" not in notes'
measure many=5000 begin=a hold=1 end
check 'stage("[more stages]")["visits"] == 5000 - 4092 + 1' \
  'figures("[more stages]") == [1, 1, 1, 1]' '"too many different stages" in notes'
measure "begin=$(printf 'x%.0s' {1..200})end" end
check 'len(first["stages"][1]["name"]) == 151 and first["stages"][1]["name"].endswith("xend")'

# Data files become stages, by open, fopen and related functions.
cd "$scratch" || exit 1
printf '1,2\n' | tee a.csv b.csv.gz >c.txt
for how in file fopen; do
  measure $how=a.csv $how=b.csv.gz $how=c.txt $how=a.csv
  check '[s["name"] for s in first["stages"]] == ["", "a.csv", "b.csv.gz"]' \
    'stage("a.csv")["kind"] == "file" and stage("a.csv")["visits"] == 2' \
    'stage("a.csv")["peak"] // B == 3 and stage("a.csv")["volume"] // B == 6' \
    'stage("b.csv.gz")["count"] == 3 and not notes'
done
# They are inside the named stage, which the peak's bytes are attributed to.
measure begin=a file=a.csv hold=1 end
check 'path("a.csv") == "a/a.csv" and first["at_peak_by_stage"]["1"] == 3 * B' \
  'stage("a.csv")["peak"] == 3 * B and figures("a") == [3, 4, 4, 1]'
measure keep=a.csv begin=a hold=5 end file=b.csv.gz
check 'path("a") == "a" and path("b.csv.gz") == "b.csv.gz"' \
  'figures("a.csv") == [8, 11, 11, 5] and stage("a.csv")["left_open"] and not notes' \
  'first["stages"][first["peak_stage"]]["name"] == "b.csv.gz"'
# A child inherits the files that its parent had open.
measure keep=a.csv fork hold=1 parent
check 'figures("a.csv", processes[1]) == [1, 1, 1, 1]' \
  'stage("a.csv", processes[1])["is_inherited"] and not processes[1]["notes"]'
FOOTPRINT_MEMPROF_STAGES=named measure begin=a file=a.csv end
check 'len(first["stages"]) == 2 and figures("a") == [3, 3, 3, 0]'

# Outermost imports of Python become stages; output and errors stay the same.
mkdir package
printf 'import package.inner\nheld = [bytes(10000) for _ in range(100)]\n' >package/__init__.py
printf 'import json\nopen("a.csv").close()\n' >package/inner.py
printf 'import package.missing\n' >package/broken.py
cat >imports.py <<'PYTHON'
import importlib, sys, threading, traceback
sys.path.insert(0, ".")
import package
import package
importlib.import_module("xml.dom.minidom")
def work():
    import wave
thread = threading.Thread(target=work)
thread.start()
thread.join()
try:
    from package import broken
except ImportError:
    print(traceback.format_exc())
open("a.csv").read()
print(len(sys.modules), __import__("package").inner, importlib.reload(package))
PYTHON
measure_other /usr/bin/python3 imports.py
check 'len(processes) == 1 and not notes' \
  'stage("package")["kind"] == "import" and stage("package")["visits"] == 1' \
  'stage("package")["peak"] >= 100 * 10000 and stage("package")["growth"] > 900000' \
  'not [s for s in first["stages"] if s["name"] in ("json", "package.inner")]' \
  'path("xml.dom.minidom") == "xml.dom.minidom" and stage("wave")["visits"] == 1' \
  'stage("package.broken")["visits"] == 1' \
  'stage("a.csv")["visits"] == 1 and stage("a.csv")["parent"] == 0'
/usr/bin/python3 imports.py | cmp - "$scratch/output" ||
  fail "the output of Python is another"
# The interpreter frees the hook with an allocator that it chooses late.
PYTHONMALLOC=malloc_debug measure_other /usr/bin/python3 -c \
  'import os, wave; child = os.fork(); child and print(os.waitpid(child, 0)[1])'
[[ $(<"$scratch/output") == 0 ]] || fail "a child of Python failed"
check 'len(processes) == 2 and stage("wave")["peak"] > 0'
FOOTPRINT_MEMPROF_STAGES=named measure_other /usr/bin/python3 imports.py
check 'len(first["stages"]) == 1'

# A program can read its own figures.
measure open=a hold=3 drop=1 read
[[ $(<"$scratch/output") == "30744 30744 20496" ]] ||
  fail "the program read $(<"$scratch/output")"
measure open=a hold=3 close=0 read
[[ $(<"$scratch/output") == unknown ]] ||
  fail "of a visit that has ended, the program read $(<"$scratch/output")"
[[ $("$program" begin=a open=a hold=1 read end end close=0) == unknown ]] ||
  fail "the program needs the agent"

((failures == 0))
