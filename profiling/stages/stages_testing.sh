# shellcheck shell=bash
# Sourced by tests of stages: runs programs with the agent, and checks what it
# recorded. The test's arguments are the agent, print_stages and a program.

agent=$PWD/$1
print_stages=$PWD/$2
program=$PWD/$3
scratch=$TEST_TMPDIR
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# measure_other PROGRAM ARGUMENT...: writes its stages to $scratch/stages.json.
measure_other() {
  rm -rf "$scratch/records"
  mkdir "$scratch/records"
  FOOTPRINT_MEMPROF_SAMPLING_INTERVAL=0 FOOTPRINT_MEMPROF_FOLDER=$scratch/records \
    LD_PRELOAD=$agent "$@" >"$scratch/output"
  "$print_stages" "$scratch/records" >"$scratch/stages.json" ||
    fail "no record of: $*"
}

measure() { measure_other "$program" "$@"; }

# check EXPRESSION...: of the last run, as Python sees it: `processes`; of the
# first one, `stage(NAME)`, `path(NAME)` and `notes`; a block is `B` bytes.
check() {
  python3 - "$scratch/stages.json" "$@" <<'PYTHON' || fail "not so: $*"
import json, sys
processes = json.load(open(sys.argv[1]))
B = 10248
first = processes[0]
notes = " | ".join(first["notes"])
def stage(name, process=first):
    return next(s for s in process["stages"] if s["name"] == name)
def figures(name, process=first):
    s = stage(name, process)
    return [s["peak"] / B, s["volume"] / B, s["count"], s["growth"] / B]
def path(name, process=first):
    s, names = stage(name, process), []
    while s["kind"] != "none":
        names.insert(0, s["name"])
        s = process["stages"][s["parent"]]
    return "/".join(names)
wrong = [text for text in sys.argv[2:] if not eval(text)]
if wrong:
    print(wrong, json.dumps(processes, indent=1))
sys.exit(bool(wrong))
PYTHON
}

