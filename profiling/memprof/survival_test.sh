#!/usr/bin/env bash
# Programs that do what preloaded agents die of: each must end as it would alone,
# and be measured.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
program=$PWD/$2
storage=$PWD/$3
other_storage=$PWD/$4

# survives ARGUMENT...: exits with 0, sampled, and with each allocation recorded:
# that run is checked.
survives() {
  local sampling
  for sampling in 512KiB 0; do
    measure --sampling=$sampling "$program" "$@" ||
      fail "status $? of $*: $(tail -5 "$scratch/error")"
  done
}

base=$(survives hold=0 &&
  python3 -c "import json; print(json.load(open('$scratch/run.json'))['processes'][0]['peak_live_bytes'])")

# Ends of threads.
survives keys=8
check "first['thread_count'] == 9"
survives objects=8
check "first['thread_count'] == 9"
survives detached=3
survives stacks=8
check "first['thread_count'] == 9"
# 32 threads hold 100 blocks each at once, and each thread's blocks are freed by
# another.
survives threads=32
check "first['peak_live_bytes'] - $base >= 3200 * 10248 and own[0] < 3400"
check "sum(site['at_peak_count'] for site in first['sites'] if site['at_peak_bytes'] >= 10248 * 1000) == 3200"
check "adds_up"

# Thread-local storage runs out, and code changes at its place.
mkdir "$scratch/libraries"
for ((i = 0; i < 64; ++i)); do cp "$storage" "$scratch/libraries/$i.so"; done
survives libraries="$scratch/libraries"
(cd "$scratch" && survives swap="$storage:$other_storage" hold=10
check "adds_up"
# The second library lies there still; what was the first's is not taken for it.
check "sum(site['at_peak_bytes'] for site in first['sites'] if 'AllocateThere' in site['function']) == 10 * 10248"
((failures == 0))) || failures=$((failures + 1))

# Forks while threads allocate: every child is there.
measure --sampling=none "$program" storm=60 || fail "status $? of 60 forks"
check "len(processes) == 61 and all(10 <= peak < 13 for peak in own[1:])"
measure --sampling=0 "$program" storm=15 || fail "status $? of 15 forks"
check "len(processes) == 16 and all(10 <= peak < 13 for peak in own[1:])"

# Children that no handler of fork is called for: their figures are their own.
for how in clone _Fork system_call clone3; do
  survives hold=100 clone=$how hold=20
  check "len(processes) == 2 and processes[1]['is_fork'] and adds_up"
  check "first['peak_live_bytes'] - $base == 120 * 10248"
  check "500 <= processes[1]['own_peak_bytes'] // 10248 < 503"
done
# Calls that the system refuses are refused, with its reason.
survives refused

# Handlers that allocate, and that never return.
survives handler=40
survives map=100
check "sum(m['at_peak_bytes'] for m in first['mappings']) == first['peak_mapped_bytes']"
check "first['peak_mapped_bytes'] in (4096, 8192)"
survives beside=100
check "sum(m['at_peak_bytes'] for m in first['mappings']) == first['peak_mapped_bytes']"
survives jump=40
check "first['peak_live_bytes'] - $base <= 2 * 10248"

# Before main and after exit: the peak lies in the last destructor.
survives ends
check "first['peak_live_bytes'] >= 201 * 10248 and first['live_bytes'] == first['peak_live_bytes']"

# A daemon closes what it does not know, and outlives memprof.
(
  cd "$scratch" && touch go
  measure --sampling=0 "$program" daemon sleep=300
  check "len(processes) == 3 and own[2] == 300 and processes[2]['is_running']"
  rm go
  ((failures == 0))
) || failures=$((failures + 1))
measure --sampling=0 sh -c "$program daemon; sleep 0.1"
check "len(processes) >= 4"
check "any(peak == 400 for peak in own)"
# Closed descriptors, then more call sites than there was room for, and a child.
survives close storm=2
check "len(processes) == 3"

# Another root and another user; the child is there, too.
if ((EUID == 0)); then
  mkdir -p "$scratch/root"
  survives chroot="$scratch/root"
  check "len(processes) == 2 and own[1] == 15"
  check "adds_up"
else
  skip "chroot needs root"
fi

# A /tmp that cannot be used is no reason to refuse where TMPDIR names no other: full,
# not to be written, or without programs.
if ((EUID == 0)) && unshare -m mount -t tmpfs none /tmp 2>/dev/null; then
  for options in ro size=16k noexec; do
    (unset TMPDIR && unshare -m bash -c "mount -t tmpfs -o $options none /tmp && exec \"\$@\"" bash \
      "$memprof" --json="$scratch/run.json" "$program" hold=5 >/dev/null 2>"$scratch/error") ||
      fail "/tmp with $options: $(cat "$scratch/error")"
    measured="hold=5 where /tmp is $options"
    check "len(processes) == 1 and first['peak_live_bytes'] - $base == 5 * 10248"
    rm -f "$scratch/run.json"
  done
else
  skip "no mount here: /tmp is as it is"
fi

# A program that empties the folder for temporary files ends as it does, and is measured;
# what it starts afterwards is not, and that is said. A limit is not judged then.
mkdir "$scratch/emptied"
for status in 7 0; do
  (export TMPDIR=$scratch/emptied
  measure sh -c "'$program' hold=30; sleep 0.1; rm -rf '$scratch'/emptied/*; exit $status"
  (($? == status)) || fail "status $? of a program that empties TMPDIR: $(cat "$scratch/error")"
  [[ $(<"$scratch/error") == *"set TMPDIR to a folder that it leaves alone"* ]] || fail "$(cat "$scratch/error")"
  check "any(each['peak_live_bytes'] - $base == 30 * 10248 for each in processes)"
  expect 2 "set TMPDIR to a folder that it leaves alone" --limit=1GiB sh -c "rm -rf '$scratch'/emptied/*; exit $status"
  [[ -z $(ls "$scratch/emptied") ]] || fail "left behind: $(ls "$scratch/emptied")"
  ((failures == 0))) || failures=$((failures + 1))
done

# Limits of the system.
for what in AS NPROC; do survives limit=$what; done
check "first['peak_live_bytes'] - $base == 20 * 10248"
# A child without descriptors or files is told, and is not its parent.
for what in NOFILE FSIZE; do
  survives limit=$what
  check "first['peak_live_bytes'] - $base == 20 * 10248 and adds_up"
  check "len(processes) == 1 and first['lost_child_count'] == 1"
done
survives strict
check "len(processes) == 2 and own[1] == 20"
(ulimit -v 150000 && measure "$program" hold=100) ||
  fail "a limit of addresses: $(cat "$scratch/error")"
check "first['peak_live_bytes'] - $base == 100 * 10248"
# Where there are addresses for the program, but not for each record of it.
for addresses in 120000 200000 300000; do
  (ulimit -v $addresses && measure /usr/bin/python3 -c 'print(1 + 1)') ||
    fail "$addresses KiB of addresses: $(cat "$scratch/error")"
  [[ $(<"$scratch/output") == 2 ]] || fail "$addresses KiB: no output"
done
for files in 5 8 16; do
  (ulimit -n $files && "$memprof" "$program" hold=1) >/dev/null 2>"$scratch/error" ||
    fail "$files files: $(cat "$scratch/error")"
done
# A file of the program gets the number that it has alone, under a low limit, too.
for files in 64 256 1024; do
  opened=$(ulimit -n $files && "$memprof" --quiet python3 -c 'import os; print(os.open("/", 0))')
  alone=$(python3 -c 'import os; print(os.open("/", 0))')
  [[ $opened == "$alone" ]] || fail "$files files: the program's first is $opened, not $alone"
done

# Names are found with little room for stacks, too: all of them.
for stack in 64 128; do
  (ulimit -s $stack && measure --sampling=0 "$program" hold=3) ||
    fail "a stack of $stack KiB: $(cat "$scratch/error")"
  check "any(site['at_peak_bytes'] == 3 * 10248 for site in first['sites'])"
done

# Each signal that ends a program.
for signal in 1 2 3 4 6 7 8 9 11 13 14 15 24 31 64; do
  (ulimit -c 0 && measure --sampling=0 "$program" hold=50 die=$signal)
  (($? == 128 + signal)) || fail "signal $signal is lost"
  check "len(processes) == 1 and first['peak_live_bytes'] - $base == 50 * 10248 and adds_up"
done

# A program that handles what was ignored when it began, as an interrupt is in a
# background job of a shell, gets it.
(
  trap '' INT
  "$memprof" /usr/bin/python3 -c 'import signal, sys, time
assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
signal.signal(signal.SIGINT, lambda *_: sys.exit(5))
open(sys.argv[1], "w").close()
time.sleep(50)' "$scratch/handles" >/dev/null 2>"$scratch/error" &
  until [[ -f $scratch/handles ]]; do sleep 0.05; done
  kill -INT $!
  wait $!
  (($? == 5)) || fail "an interrupt that was ignored does not reach the program: $(cat "$scratch/error")"
  ((failures == 0))
) || failures=$((failures + 1))

# After an interrupt of the program, a shell's loop around memprof ends with it.
python3 - "$memprof" <<'PYTHON' || fail "an interrupt does not end the loop of a shell"
import os, signal, subprocess, sys, time
loop = subprocess.Popen(["bash", "-c", 'for i in 1 2 3; do "$0" sh -c "sleep 5; true"; done; echo end', *sys.argv[1:]],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
time.sleep(1)
os.killpg(loop.pid, signal.SIGINT)
output, error = loop.communicate(timeout=60)
sys.exit(not (loop.returncode == -signal.SIGINT and output == "" and "killed by signal 2" in error))
PYTHON

# The program finds open what it would alone, also where standard ones are closed.
for closing in '' '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
  eval "'$program' descriptors='$scratch/alone' $closing"
  eval "timeout 20 '$memprof' --sampling=0 '$program' descriptors='$scratch/measured' $closing" \
    2>"$scratch/error"
  cmp "$scratch/alone" "$scratch/measured" || fail "descriptors differ with '$closing'"
done

leftovers=$(find "$scratch" -name 'memprof-*')
[[ -z $leftovers ]] || fail "left behind: $leftovers"
((failures == 0))
