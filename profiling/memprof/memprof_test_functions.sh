# shellcheck shell=bash
# Functions that memprof's tests share; sourced, with the path of memprof, and then:
#
#   measure --sampling=0 PROGRAM ARGUMENT...
#   check "first['peak_live_bytes'] == 10248"
#   ((failures == 0))

memprof=$PWD/$1
scratch=$TEST_TMPDIR
failures=0
export TMPDIR=$scratch

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect STATUS TEXT ARGUMENT...: the exit status, and what standard error says.
expect() {
  local status=$1 text=$2 actual=0
  shift 2
  timeout 60 "$memprof" "$@" >"$scratch/output" 2>"$scratch/error" || actual=$?
  ((actual == status)) || fail "status $actual, not $status, of: $*"
  [[ $(<"$scratch/error") == *"$text"* ]] ||
    fail "'$text' is not in '$(cat "$scratch/error")', from: $*"
}

# measure ARGUMENT...: the program's run as $scratch/run.json; memprof's exit
# status.
measure() {
  measured="$*"
  rm -f "$scratch/run.json"
  timeout 60 "$memprof" --json="$scratch/run.json" "$@" >"$scratch/output" \
    2>"$scratch/error"
}

# check EXPRESSION: of the last run, as Python sees it: `run`, `processes`, and
# `own`, the peaks of the processes in blocks of 10,248 bytes, rounded down.
# `adds_up` says whether the sites of each process add up to its peak.
check() {
  python3 - "$scratch/run.json" "$1" <<'PYTHON' || fail "not so: $1; of $measured"
import json, sys
run = json.load(open(sys.argv[1]))
processes = run["processes"]
own = [process["own_peak_bytes"] // 10248 for process in processes]
adds_up = all(sum(site["at_peak_bytes"] for site in process["sites"])
              == process["peak_live_bytes"]
              for process in processes if "sites" in process)
first = processes[0]
sys.exit(0 if eval(sys.argv[2]) else print(json.dumps(
    [{k: v for k, v in p.items() if k not in ("sites", "stacks", "timeline")}
     for p in processes], indent=1)) or 1)
PYTHON
}

# skip REASON: a check that cannot be made here.
skip() { echo "SKIPPED: $*"; }
