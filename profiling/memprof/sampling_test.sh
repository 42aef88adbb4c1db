#!/usr/bin/env bash
# Processor time and copies of programs of which they are known, and that
# sampling changes nothing that a program can see.
set -uo pipefail

# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
program=$PWD/$2
leaks=$PWD/$3

# check EXPRESSION: of the last run, as Python sees it. time(NAME) and
# copied(NAME) are seconds and bytes of all stacks through a function of that
# name, of all processes, and count(NAME) the samples; `whole` is all time, `told`
# the kernel's own account.
check() {
  python3 - "$scratch/run.json" "$1" <<'PYTHON' || fail "not so: $1; of $measured"
import json, sys
run = json.load(open(sys.argv[1]))
processes = run["processes"]
def names(call):
    while call:
        yield run["frames"][run["calls"][call - 1]["frame"]]["function"]
        call = run["calls"][call - 1]["parent"]
def through(call, name):
    return any(name in each for each in names(call))
def seconds(entry):
    return (entry["native_ns"] + entry["interpreter_ns"]
            + entry["system_ns"]) / 1e9
times = [entry for process in processes for entry in process["processor_time"]]
copies = [entry for process in processes for entry in process["copies"]]
def time(name, entries=times):
    return sum(seconds(e) for e in entries if through(e["call"], name))
def count(name):
    return sum(e["sample_count"] for e in times if through(e["call"], name))
def copied(name):
    return sum(e["copied"]["bytes"] for e in copies if through(e["call"], name))
def sigma(name):
    return sum(e["copied"]["variance"] for e in copies
               if through(e["call"], name)) ** 0.5
whole = sum(map(seconds, times))
system = sum(e["system_ns"] for e in times) / 1e9
told = (run["user_time_ns"] + run["system_time_ns"]) / 1e9
samples = sum(e["sample_count"] for e in times)
sys.exit(0 if eval(sys.argv[2]) else print(
    dict(whole=whole, system=system, told=told, samples=samples,
         long=time("SpinLong"), count=count("SpinLong"),
         short=time("SpinShort"), much=copied("CopyMuch"),
         notes=[p["notes"] for p in processes])) or 1)
PYTHON
}

# All time is there, and where it went: 450 and 150 ms.
measure --cpu=250 "$program" spin=150
check "0.6 <= whole <= told + 0.1"
check "samples > 30"
check "time('SpinLong') + time('SpinShort') > 0.9 * whole"
check "0.6 < time('SpinLong') / (time('SpinLong') + time('SpinShort')) < 0.88"
check "all(e['interpreter_ns'] == 0 for e in times)"
measure --cpu_only=250 "$program" system=300
check "'sites' not in processes[0] or not processes[0]['sites']"
check "system > 0.15 and time('AskKernel') > 0.25"

# The time of every thread counts, however it was begun and ends.
measure --cpu=250 "$program" threads=80
# A thread's last time, at most a tick of the kernel, is where the thread ends.
check "0.4 <= whole <= 0.6 and time('SpinLong') > 0.9 * whole"
check "len({e['thread'] for e in times if through(e['call'], 'SpinLong')}) == 3"
# The time of every process counts, up to its last moment.
measure --cpu=250 "$program" fork=100
check "len(processes) == 2 and 0.07 < time('SpinShort', processes[1]['processor_time']) < 0.2"
measure --cpu=250 "$program" spin=50 kill
check "processes[0]['end'] == 'KILLED' and 0.15 < time('Spin') < 0.3"
measure --cpu=250 "$program" spin=30 exec="$program" spin=30
check "len(processes) == 2 and all(0.08 < time('Spin', p['processor_time']) for p in processes)"

# Whatever the program does with signals.
measure --cpu=250 "$program" mask spin=50
check "samples > 10 and time('Spin') > 0.18"
measure --cpu=250 "$program" profile=400
[[ $(<"$scratch/output") == "own signals" ]] || fail "SIGPROF was disturbed"
# The program's own clock tells 0.4 s. A sample has the time since the one before
# it and what follows the last is of no known stack, so a machine under load
# moves seconds between stacks, but no samples: of some 57 (sigma 3.2 in 20 runs
# at a load of 30), all fall into SpinLong but for those of what the program does
# besides, which takes less than a tenth of an interval (more than 3 of them by
# chance: one run in 100,000).
check "whole >= 0.4"
check "count('SpinLong') >= 30 and count('SpinLong') >= samples - 3"
measure --cpu=1000 "$program" users
[[ $(<"$scratch/output") == "changed users" ]] ||
  fail "users: $(cat "$scratch/error")"
check "time('SpinShort') > 0.06 and samples > 5"
# No call is ended by a sample.
measure --cpu=1000 --copies "$program" wait=2500
[[ $(<"$scratch/output") == "0 calls were ended by a signal" ]] ||
  fail "$(cat "$scratch/output")"
check "samples > 2"
# Samples that fall into malloc and its recorder.
measure --cpu=1000 --copies --sampling=0 "$program" malloc=300
check "time('AllocateFor') > 0.3"

# Copies: all of them, then a sample, which is right within 4 sigma.
measure --copies=0 "$program" copy=300
check "copied('CopyMuch') == 300 * 100000 and copied('CopyLittle') == 300000"
check "sigma('CopyMuch') == 0"
measure --copies=100KiB "$program" copy=3000
check "abs(copied('CopyMuch') - 3000 * 100000) < 4 * sigma('CopyMuch')"
check "0 < sigma('CopyMuch') < 20e6 and copied('CopyLittle') < 20e6"
# A thread's first copy is one as the others: of 300,000 bytes about 3 samples.
measure --copies=100KiB "$program" once=300
check "copied('CopyOnce') < 3e6"
measure --copies=0 "$program" once=300
check "copied('CopyOnce') == 300000"
measure --copies=0 "$program" copy=100 fork=1 kill
check "copied('CopyMuch') == 100 * 100000"
measure --copies "$program" overlap
[[ $(<"$scratch/output") == "bcdefefh" ]] || fail "overlap: $(cat "$scratch/output")"
measure "$program" copy=100
check "not copies and not times"

# Functions of an interpreter, too, also where of memory only the peak is measured.
measure --cpu_only=1000 --copies=64KiB /usr/bin/python3 -S -c '
def copy_much(block): return bytes(block)
def spin():
    block = bytearray(1000000)
    for i in range(100): copy_much(block)
    return sum(i * i for i in range(10**6))
spin()'
check "time('spin') > 0.03 and copied('copy_much') > 90e6"

# Memory that grows to the last is suspected, also of a process that is killed;
# memory that has a bound is not.
measure --sampling=16KiB "$leaks" leak 1 600 kill
check "processes[0]['end'] == 'KILLED'"
check "[leak['probability'] > 0.75 for leak in processes[0]['suspected_leaks'] if through(leak['call'], 'Subject')] == [True]"
for way in cache_oldest list_freed temporary table; do
  measure --sampling=16KiB "$leaks" "$way" 1 600
  check "not any(through(leak['call'], 'Subject') for leak in processes[0]['suspected_leaks'])"
done

# The run goes on if there is no timer, and says so.
(ulimit -i 0 && exec "$memprof" --cpu "$program" spin=10) 2>"$scratch/error" ||
  fail "status $? without timers"
[[ $(<"$scratch/error") == *"processor time of threads was not sampled: 1,"* ]] ||
  fail "nothing is said without timers: $(cat "$scratch/error")"

# Programs that are not ours say what they say without it.
unchanged() {
  local without with
  without=$("$@" 2>/dev/null)
  with=$("$memprof" --cpu_only --copies "$@" 2>"$scratch/error") ||
    fail "status $? of $*: $(cat "$scratch/error")"
  [[ $with == "$without" ]] || fail "another output of $*: $with"
}
unchanged /usr/bin/python3 -c 'print(sum(range(10**6)), sorted("memory"))'
check_installed() {
  command -v "$1" >/dev/null || {
    echo "SKIPPED: $1 is not installed" >&2
    return 1
  }
}
check_installed git && unchanged git --version
check_installed node && unchanged node -e 'console.log([1, 2].map(x => x + 1))'
check_installed java && unchanged java --version

((failures == 0))
