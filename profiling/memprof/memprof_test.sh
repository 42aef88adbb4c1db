#!/usr/bin/env bash
# memprof on programs of every kind: their figures, output and exit.
set -uo pipefail

# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
program=$PWD/$2
own_new=$PWD/$3
read_pprof=$PWD/$4
phase_program=$PWD/$5

# The program's output and exit status are its own.
expect 0 "peak heap" "$program" print
[[ $(<"$scratch/output") == "the program's own line" ]] ||
  fail "the output is $(cat "$scratch/output")"
expect 7 "peak heap" "$program" exit=7
expect 9 "peak heap" "$program" _exit=9
expect 137 "killed" "$program" fork=1 kill=9
expect 139 "peak heap" "$program" overflow
expect 137 "killed by signal 9" "$program" hold=1 kill=9

# Peaks are exact: two programs that differ by 1,000 blocks do so by their bytes.
measure "$program" hold=0
base=$(python3 -c "import json; print(json.load(open('$scratch/run.json'))['processes'][0]['peak_live_bytes'])")
for end in exit=0 _exit=0 kill=9 kill=11 kill=15 overflow close; do
  measure "$program" hold=1000 release hold=10 "$end"
  check "len(processes) == 1"
  check "first['peak_live_bytes'] - $base == 1000 * 10248"
done
measure "$program" hold=1000 _exit=0
check "first['live_bytes'] >= 1000 * 10248"
check "'allocated_bytes' in first and first['allocation_count'] > 1000"

# Each allocation recorded: its sites add up to the peak.
measure --sampling=0 "$program" hold=1000
check "sum(site['at_peak_bytes'] for site in first['sites']) == first['peak_live_bytes']"
check "first['sites'][0]['at_peak_bytes'] == 1000 * 10248"
check "first['sites'][0]['at_peak_count'] == 1000"
check "'Allocate' in first['sites'][0]['function']"
measure --sampling=none "$program" hold=1000
check "'sites' not in first"

# A phase is a stage.
measure "$phase_program"
check "[(stage['name'], stage['parent']) for stage in first['stages'][1:]] == [('fit', 0), ('epoch', 1), ('predict', 0)]"
check "[stage['peak_live_bytes'] >> 20 for stage in first['stages'][1:]] == [4, 2, 1]"
check "not first['notes']"

# No process is lost, however it comes to be and ends.
measure "$program" hold=100 fork=64
check "len(processes) == 65 and sum(p['is_fork'] for p in processes) == 64"
check "all(50 <= peak < 60 for peak in own[1:])"
measure "$program" hold=200 exec="$program" hold=30
check "len(processes) == 2 and processes[1]['image'] == 1"
check "processes[0]['process_id'] == processes[1]['process_id']"
check "'live_bytes' not in processes[0] and own[0] > own[1] + 160"
measure "$program" spawn="$program" hold=30
check "len(processes) == 2 and processes[1]['image'] == 0 and own[1] >= 30"
measure "$program" vfork hold=100
check "len(processes) == 1 and 'live_bytes' in first"
measure sh -c "exec $program hold=30"
check "len(processes) == 2 and own[1] >= 30"
cat >"$scratch/pools.py" <<'PYTHON'
import multiprocessing, sys
def work(number): return len(bytearray(2000000))
if __name__ == "__main__":
    pool = multiprocessing.get_context(sys.argv[1]).Pool(2, work, (0,))
    pool.close()
    pool.join()
PYTHON
for method in fork spawn forkserver; do
  # The forkserver listens at a path in TMPDIR, which must be short.
  TMPDIR=/tmp measure /usr/bin/python3 "$scratch/pools.py" "$method"
  check "len([p for p in processes if p['parent_process_id'] in [q['process_id'] for q in processes] and p['own_peak_bytes'] > 1800000]) >= 2"
done

measure "$program" threads=8
check "first['thread_count'] == 9 and own[0] >= 800"

expect 0 "peak heap" "$program" thread_exit
measure --sampling=0 "$program" plugin=50 hold=10
check "sum(site['at_peak_bytes'] for site in first['sites']) == first['peak_live_bytes']"
check "run['exit_status'] == 0"
# Nothing comes along that the program does not have.
measure --sampling=0 /bin/true
check "not any('libstdc++' in site['module'] for site in first['sites'])"
check "first['peak_live_bytes'] < 65536"

# _exit may be called by a handler that interrupted malloc.
for _ in {1..20}; do
  timeout 20 "$memprof" --sampling=none "$program" die_in_malloc 2>"$scratch/error" ||
    fail "status $? after _exit within malloc"
done

# Memory that is not counted is told of, and not accepted.
expect 3 "operator new of its own" --limit=1GiB "$own_new" hold=10
(ulimit -f 100 && exec "$memprof" "$program" hold=10) 2>"$scratch/error"
[[ $? == 2 && $(<"$scratch/error") == *"cannot be written"* ]] ||
  fail "a limit of file sizes gave $(cat "$scratch/error")"
# Who starts memprof may ignore the end of children, and signals.
(trap '' CHLD HUP; exec "$memprof" "$program" exit=7) 2>/dev/null
[[ $? == 7 ]] || fail "the exit status is lost where SIGCHLD is ignored"
"$memprof" --sampling=none sleep 30 2>/dev/null &
launcher=$!
until [[ -n $(cat /proc/$launcher/task/*/children 2>/dev/null) ]]; do sleep 0.01; done
kill -TERM "$launcher"
wait "$launcher"
[[ $? == 143 ]] || fail "a signal did not reach the program"

# A process that finds no room for its record counts in the one before it, and is
# not ended by the limit.
for sampling in 0 none; do
  measure --sampling=$sampling "$program" hold=10 limit_files fork=3
  check "len(processes) == 1 and first['lost_child_count'] == 3"
done
[[ $(<"$scratch/error") == *"3 children of process"*"could not be measured"* ]] ||
  fail "lost children are not told: $(cat "$scratch/error")"
measure "$program" limit_files exec="$program" hold=10
check "len(processes) == 1 and first['lost_child_count'] == 1"
measure "$program" limit_files spawn="$program" fork=2
check "len(processes) == 1 and first['lost_child_count'] == 1"
expect 3 "not everything was counted" --limit=1GiB "$program" limit_files fork=1

# A child that no agent is in is in no figure, and named: one that was started so,
# and one that became such a program.
measure python3 -c 'import subprocess as s; s.run(["/bin/sleep", "0.3"], env={})'
check "run['unrecorded_programs'] == ['sleep'] and run['unrecorded_process_count'] == 1"
[[ $(<"$scratch/error") == *"1 process (sleep) left no record"* ]] ||
  fail "a child without a record is not told: $(cat "$scratch/error")"
measure sh -c 'env -i sleep 0.3; true'
check "run['unrecorded_programs'] == ['sleep']"
measure sh -c 'sleep 0.3; true'
check "not run.get('unrecorded_process_count')"
check "run['container_needs'].get('limit_bytes', 0) > 0"
measure sh -c 'env -i sleep 0.3; true'
check "not run['container_needs'].get('limit_bytes')"
check "'left no record' in run['container_needs']['unknown']"
# So is the program's own process, whether it becomes another file or the same.
hold_60='held = bytearray(60000000); import time; time.sleep(0.3)'
measure env -i /usr/bin/python3 -c "$hold_60"
check "run['unrecorded_programs'] == ['python3'] and len(processes) == 1"
check "'resident_at_peak' not in first or first['resident_at_peak']['resident_bytes'] < 30000000"
check "run['peak_resident_once_bytes'] > 60000000"
measure --children=no env -i /usr/bin/python3 -c "$hold_60"
check "run['unrecorded_programs'] == ['python3']"
measure sh -c 'unset LD_PRELOAD; exec sh -c "sleep 0.3; true"'
check "'sh' in run['unrecorded_programs']"
# Nothing of it is accepted.
for unseen in "exec env -i /usr/bin/python3 -c '$hold_60'" \
  "unset LD_PRELOAD; exec /usr/bin/python3 -c '$hold_60'" \
  "env -i /usr/bin/python3 -c '$hold_60'; true" \
  "LD_PRELOAD=libm.so.6 /usr/bin/python3 -c '$hold_60'; true"; do
  expect 3 "not everything was counted" --limit=10MiB sh -c "$unseen"
done
# Memory that does not come from malloc is said to be there, and judged.
cat >"$scratch/mapped.py" <<'PYTHON'
import mmap, time
held = mmap.mmap(-1, 80000000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range(0, len(held), 4096): held[i] = 1
time.sleep(0.1)
PYTHON
expect 1 "its resident set is judged" --limit=20MiB /usr/bin/python3 "$scratch/mapped.py"
expect 0 "its resident set is judged" --limit=200MiB /usr/bin/python3 "$scratch/mapped.py"
expect 0 "leaves out 7" /usr/bin/python3 "$scratch/mapped.py"
# The lines that mapped are known, also of a fork's child, which has its parent's
# mappings. Python maps arenas, too.
cat >"$scratch/mappings.py" <<'PYTHON'
import mmap, os
kept = mmap.mmap(-1, 30 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
mmap.mmap(-1, 90 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
if os.fork() == 0:
    more = mmap.mmap(-1, 100 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    os._exit(0)
os.wait()
PYTHON
# The line of the script above a call.
line_of='(lambda call: (lambda again: again(again, call))(lambda again, c: 0 if c == 0 else
  run["frames"][run["calls"][c - 1]["frame"]]["line"]
  if run["frames"][run["calls"][c - 1]["frame"]]["file"].endswith("mappings.py")
  else again(again, run["calls"][c - 1]["parent"])))'
bytes_of_lines="{line: sum(m['at_peak_bytes'] for m in p['mappings'] if $line_of(m['call']) == line) for line in (2, 3, 5)}"
for sampling in 0 512KiB; do
  measure --sampling="$sampling" /usr/bin/python3 "$scratch/mappings.py"
  check "all(sum(m['at_peak_bytes'] for m in p['mappings']) == p['peak_mapped_bytes'] for p in processes)"
  check "[$bytes_of_lines for p in processes] == [{2: 30 << 20, 3: 90 << 20, 5: 0}, {2: 0, 3: 0, 5: 100 << 20}]"
  check "sum(m['at_peak_bytes'] for m in processes[1]['mappings'] if not m['call']) >= 30 << 20"
done
expect 0 "90.0 MiB were mapped by <module> (" /usr/bin/python3 "$scratch/mappings.py"

# Pages that forks share count once, and beside them the sum.
cat >"$scratch/forks.py" <<'PYTHON'
import os, time
held = bytearray(100000000)
for i in range(0, len(held), 4096): held[i] = 1
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        time.sleep(1.5)
        os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
PYTHON
for _ in 1 2; do
  measure /usr/bin/python3 "$scratch/forks.py"
  check "100000000 < run['peak_resident_once_bytes'] < 130000000"
  check "run['peak_resident_sum_bytes'] > 6 * 100000000"
  check "100000000 < run['container_needs']['limit_bytes'] < 150000000"
done

# So do files in memory that nobody has mapped.
if [[ $(stat -f -c %T /dev/shm) == tmpfs ]]; then
  cat >"$scratch/in_memory.py" <<'PYTHON'
import os, tempfile, time
with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
    for _ in range(60): file.write(bytes(1000000))
    file.flush()
    time.sleep(0.2)
PYTHON
  measure /usr/bin/python3 "$scratch/in_memory.py"
  check "run['container_needs']['memory_file_bytes'] >= 55000000"
  check "run['container_needs']['limit_bytes'] >= 60000000"
else
  skip "/dev/shm is not a tmpfs, so files in memory are not looked at"
fi

# Children are left alone where they are not wanted; the program itself is
# measured, whatever it becomes.
measure --children=no "$program" hold=100 fork=3
check "len(processes) == 1 and own[0] >= 100"
measure --children=no sh -c "$program hold=300; exec $program hold=30"
check "len(processes) == 2 and 100 <= own[1] < 140"

# A saved record says what the run said, and writes what it wrote.
rm -f "$scratch"/again.*
measure --sampling=0 --record="$scratch/a.run" --pprof="$scratch/a.pb.gz" "$program" hold=1000
"$memprof" --from="$scratch/a.run" --json="$scratch/again.json" \
  --pprof="$scratch/again.pb.gz" >"$scratch/again.txt" || fail "--from failed"
cmp "$scratch/run.json" "$scratch/again.json" || fail "the JSON differs"
cmp "$scratch/a.pb.gz" "$scratch/again.pb.gz" || fail "pprof's format differs"
diff <(tail -n +2 "$scratch/again.txt") <(tail -n +3 "$scratch/error") ||
  fail "the text differs"
expect 1 "over the limit" --from="$scratch/a.run" --limit=1MiB
expect 2 "is not a measured run" --from="$scratch/run.json"
head -c 1000 "$scratch/a.run" >"$scratch/cut.run"
expect 2 "memprof --record=FILE" --from="$scratch/cut.run"
python3 "$read_pprof" "$scratch/a.pb.gz" >"$scratch/pprof.json" || fail "no profile"
python3 - "$scratch/run.json" "$scratch/pprof.json" <<'PYTHON' || fail "pprof's format says otherwise"
import json, sys
run, profile = (json.load(open(path)) for path in sys.argv[1:])
process = run["processes"][0]
stacks = process["stacks"]
assert profile["types"] == ["peak_space/bytes", "peak_objects/count",
    "alloc_space/bytes", "alloc_objects/count", "inuse_space/bytes"]
assert profile["sums"] == [sum(s[a].get(b, 0) for s in stacks) for a, b in (
    ("at_peak", "bytes"), ("at_peak", "count"), ("allocated", "bytes"),
    ("allocated", "count"), ("at_end", "bytes"))], profile["sums"]
assert profile["sums"][0] == process["peak_live_bytes"]
largest = max(profile["samples"], key=lambda sample: sample["values"][0])
assert largest["values"][:2] == [1000 * 10248, 1000], largest
assert "Allocate" in largest["stack"][0] and "main" in largest["stack"][1:3]
PYTHON
if go tool pprof -h >/dev/null 2>&1 || [[ $? == 2 ]]; then
  go tool pprof -sample_index=peak_space -unit=b -top "$scratch/a.pb.gz" 2>&1 |
    grep -q "10248000B .*Allocate" || fail "Google's pprof does not read it"
else
  echo "SKIPPED: no go tool pprof here, which would read the profile, too"
fi

# Whose allocator was measured stands in the profile that gates judge.
"$memprof" --from="$scratch/a.run" --proto="$scratch/a.binpb" >"$scratch/output"
grep -aq 'glibc [0-9]' "$scratch/a.binpb" || fail "no allocator in the profile"

# Less of it, and two of them.
measure --reduced --from="$scratch/a.run"
check "all(site['function'][0] == '[' or site['at_peak_bytes'] * 100 >= first['peak_live_bytes'] for site in first['sites'])"
check "sum(site['at_peak_bytes'] for site in first['sites']) == first['peak_live_bytes']"
measure --sampling=0 --record="$scratch/b.run" "$program" hold=1500
expect 0 "" --compare="$scratch/a.run" "$scratch/b.run"
[[ $(<"$scratch/output") == *"+4.89 MiB  9.77 MiB  14.7 MiB  "*Allocate* ]] ||
  fail "the comparison says $(<"$scratch/output")"
expect 2 "none.run" --compare="$scratch/a.run" "$scratch/none.run"
expect 2 "none.run" --compare="$scratch/none.run" "$scratch/a.run"
"$memprof" --from="$scratch/a.run" | grep $'\x1b' >/dev/null && fail "colour in a pipe"

# The limit judges the largest process, and a program that failed is not judged.
expect 0 "" --limit=20MiB "$program" hold=1000
expect 1 "over the limit of 5.00 MiB" --limit=5MiB "$program" hold=1000
expect 3 "not judged" --limit=20MiB "$program" exit=1

expect 2 "$scratch/none/run.json" --json="$scratch/none/run.json" "$program" print
[[ ! -s $scratch/output ]] || fail "the program ran though its report had no place"

# Commands that cannot be measured are refused before anything runs.
expect 2 "memprof --help lists them" --unknown "$program"
expect 2 "which program?" --limit=1MiB
expect 2 "is in no folder of PATH" no_such_program_anywhere
expect 2 "No such file" "$scratch/none"
expect 2 "start the program with memprof" --pid=1
printf 'neither\n' >"$scratch/text"
expect 2 "cannot be run" "$scratch/text"
chmod +x "$scratch/text"
expect 2 "neither a program nor a script" "$scratch/text"
printf '#!%s hold=10\n' "$program" >"$scratch/script"
chmod +x "$scratch/script"
expect 0 "peak heap" "$scratch/script"
cp "$program" "$scratch/other_user"
chmod u+s "$scratch/other_user"
expect 2 "runs as another user" "$scratch/other_user"
expect 0 "" --help
[[ $(<"$scratch/output") == *"--limit=BYTES"* ]] || fail "no help"
TMPDIR=$scratch/none expect 2 "set TMPDIR to a folder that can be written" "$program"
# A resident set that nobody could look at is not 0.
if unshare -rm mount -t tmpfs tmpfs /proc 2>/dev/null; then
  unshare -rm sh -c 'mount -t tmpfs tmpfs /proc && exec "$@"' sh \
    "$memprof" "$program" hold=10 2>"$scratch/error" || fail "status $? without /proc"
  [[ $(<"$scratch/error") == *"resident   not measured"*"no limit is recommended"* ]] ||
    fail "without /proc the report says $(cat "$scratch/error")"
else
  skip "nothing can be mounted here, so /proc stays"
fi
# The program does not run where the agent could not be loaded.
mkdir "$scratch/no_code"
if unshare -rm mount -t tmpfs -o noexec tmpfs "$scratch/no_code" 2>/dev/null; then
  # shellcheck disable=SC2016  # The inner shell expands it.
  unshare -rm sh -c 'mount -t tmpfs -o noexec tmpfs "$0" && TMPDIR=$0 exec "$@"' \
    "$scratch/no_code" "$memprof" "$program" print >"$scratch/output" 2>"$scratch/error"
  [[ $? == 2 && ! -s $scratch/output && $(<"$scratch/error") == *noexec* ]] ||
    fail "a TMPDIR without code gave $(cat "$scratch/error")"
else
  skip "no file system can be mounted here, so none is without code"
fi

# With --quiet, a program that ends by itself has no report.
expect 0 "" --quiet "$program" print
[[ ! -s $scratch/error ]] || fail "--quiet says $(cat "$scratch/error")"
expect 143 "peak heap" --quiet /bin/sh -c 'kill $$'
expect 2 "--quiet has no value" --quiet=yes "$program" print

# The record of a process that runs, as it is at this moment.
# shellcheck disable=SC2016  # The measured shell expands it.
"$memprof" --quiet /bin/sh -c \
  '"$0" --from="$FOOTPRINT_MEMPROF_FOLDER/$$.0.record" && :' "$memprof" >"$scratch/output" ||
  fail "the record of a running process cannot be read"
[[ $(<"$scratch/output") == *"memprof: /bin/sh -c"*"peak heap"* ]] ||
  fail "of a running process the report is $(cat "$scratch/output")"

# Nothing is left behind.
leftovers=$(find "$scratch" -name 'memprof-*')
[[ -z $leftovers ]] || fail "left behind: $leftovers"

((failures == 0))
