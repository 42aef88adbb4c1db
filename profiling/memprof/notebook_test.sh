#!/usr/bin/env bash
# The commands that footprint.py adds to IPython, in IPython.
set -uo pipefail

memprof=$PWD/$1
module=$PWD/$2
scratch=$TEST_TMPDIR
failures=0

if ! /usr/bin/python3 -c 'import IPython' 2>/dev/null; then
  echo "SKIPPED: /usr/bin/python3 has no IPython: apt-get install python3-ipython" >&2
  exit 0
fi

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

mkdir "$scratch/modules"
cp "$module" "$scratch/modules/"
export HOME=$scratch PYTHONPATH=$scratch/modules PYTHONDONTWRITEBYTECODE=1
export FOOTPRINT_MEMPROF=$memprof
cd "$scratch" || exit 1

# ask [PROGRAM...] <<<COMMANDS: what IPython says to them, under the program.
ask() {
  cat >commands.ipy
  "$@" /usr/bin/python3 -m IPython --no-banner --no-term-title \
    --HistoryManager.enabled=False commands.ipy >output 2>&1
}

says() {
  for text in "$@"; do
    [[ $(<output) == *"$text"* ]] || fail "'$text' is not in: $(<output)"
  done
}

cat >script.py <<'PYTHON'
import sys, footprint
with footprint.stage("hold"):
    held = bytearray(10 << 20)
print("script:", sys.argv[1:])
sys.exit(len(sys.argv) - 1)
PYTHON
commands='
%load_ext footprint
page = %memprof --sampling=none script.py one "two words"
print(repr(page))
assert page._repr_html_() is None or "<iframe" in page._repr_html_()
outside = 5
page = get_ipython().run_cell_magic("memprof", "", "held = bytearray(20 << 20)\nprint(len(held))\n")
print("a cell:", page)
print("shared:", "held" in globals())
get_ipython().run_cell_magic("memprof", "", "!echo by the shell\n")
'

# A script runs as a child; so does a cell where the kernel is not measured.
ask <<<"$commands"
says "script: ['one', 'two words']" "exit status 2" "  10.0 MiB" " hold" \
  "does not run under memprof" "20971520" "a cell: memprof: " \
  "shared: False" "by the shell"

# Under memprof a cell is a stage of the kernel's process.
ask "$memprof" --sampling=none <<<"$commands"
says "script: ['one', 'two words']" "  10.0 MiB" "20971520" \
  "a cell: this cell, in the kernel" "peak heap  20.0" "shared: True" \
  "by the shell" " cell "
[[ $(<output) != *"does not run under memprof"* ]] || fail "the cell ran elsewhere"

# Errors are told.
ask <<<$'%load_ext footprint\n%memprof'
says "which script?"
FOOTPRINT_MEMPROF='' PATH=/usr/bin ask <<<$'%load_ext footprint\n%memprof script.py'
says "memprof is not in PATH"
ask "$memprof" --sampling=none \
  <<<$'%load_ext footprint\nget_ipython().run_cell_magic("memprof", "--sampling=0", "1")'
says "takes no options"
ask <<<$'%load_ext footprint\n%memprof --unknown script.py'
says "unknown option --unknown"

((failures == 0))
