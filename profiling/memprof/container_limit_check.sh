#!/usr/bin/env bash
# The container limit that memprof recommends, held against the least under which
# the same program ends as it does without one: by bisection, in a control group
# of its own. Root only.
#
#   container_limit_check [MEMPROF]    (that of its own runfiles unless given)
set -euo pipefail
MEMPROF=$(realpath "${1:-profiling/memprof/memprof}")
readonly MEMPROF
readonly MEBIBYTE=1048576
cd "${TEST_TMPDIR:-$(mktemp -d)}"

fail() {
  printf 'container_limit_check: %s\n' "$*" >&2
  exit 1
}
((EUID == 0)) || fail "needs root, to make a control group"
group=/sys/fs/cgroup/memory/footprint_check.$$ limit_file=memory.limit_in_bytes
if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
  group=/sys/fs/cgroup/footprint_check.$$ limit_file=memory.max
fi
mkdir "$group" || fail "no control groups of memory here"
trap 'rmdir "$group"' EXIT

# ends_well LIMIT_MEBIBYTES COMMAND...: as it does without a limit.
ends_well() {
  local limit=$(($1 * MEBIBYTE))
  shift
  echo "$limit" >"$group/$limit_file"
  [[ ! -f $group/memory.swap.max ]] || echo 0 >"$group/memory.swap.max"
  (
    echo $BASHPID >"$group/cgroup.procs"
    exec "$@"
  ) >limited.out 2>/dev/null && cmp -s limited.out free.out
}

# One row of the table.
check() {
  local name=$1 recommended low=1 high middle
  shift
  "$@" >free.out 2>/dev/null || fail "$name fails without a limit"
  "$MEMPROF" --json=run.json "$@" >/dev/null 2>&1 || fail "memprof $name"
  recommended=$(python3 -c 'import json
print(json.load(open("run.json"))["container_needs"].get("limit_bytes", 0) // 1048576)')
  ((recommended > 0)) || fail "$name: no limit is recommended"
  ends_well "$recommended" "$@" || fail "$name: killed within $recommended MiB"
  high=$recommended
  while ((high - low > 1)); do
    middle=$(((low + high) / 2))
    if ends_well "$middle" "$@"; then high=$middle; else low=$middle; fi
  done
  printf '| %s | %s | %s |\n' "$name" "$recommended" "$high"
}

printf '| program | recommended, MiB | least under which it ends well, MiB |\n|---|---|---|\n'
check 'python3, a list of 10^6 integers' \
  /usr/bin/python3 -c 'print(sum(list(range(1000000))))'
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  check 'python3, two arrays of 160 MB' /usr/bin/python3 -c \
    'import numpy; a = numpy.ones(20000000); b = a * 2; print(b.sum())'
else
  echo 'container_limit_check: numpy is absent, its row is left out' >&2
fi
check 'python3, four forked workers' /usr/bin/python3 -c '
import os
data = bytearray(b"1") * 50000000
for _ in range(4):
    if os.fork() == 0:
        own = bytearray(b"2") * 20000000
        os._exit(0 if sum(own[::4096]) and sum(data[::4096]) else 1)
print(sum(os.wait()[1] for _ in range(4)))'
readonly HEADER=/usr/include/absl/strings/str_cat.h
if [[ -x /usr/bin/g++ && -f $HEADER ]]; then
  check 'g++, a header of Abseil' g++ -w -fsyntax-only -x c++ "$HEADER"
else
  echo 'container_limit_check: g++ or the header of Abseil is absent, its row is left out' >&2
fi
check 'sort, 2,000,000 lines' bash -c 'seq 2000000 | sort -r -S 40M | tail -1'
