# shellcheck shell=bash
# A control group with a limit on its memory, for scripts that source this file.
#
#   source lowmem/programs/memory_cgroup.sh
#   make_cgroup 16            # MiB; sets cgroup
#   run_in_cgroup PROGRAM ARGUMENT...
#   remove_cgroup
#
# The caller defines a function `fail`, which prints its arguments and exits. Needs root.

cgroup=

# Version 2, or 1's memory controller.
make_cgroup() {
  local name=footprint.$$ limit=$(($1 << 20)) error
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    cgroup=/sys/fs/cgroup/$name
    error=$(mkdir "$cgroup" 2>&1) || { cgroup=; fail "no cgroup: $error"; }
    [[ -f $cgroup/memory.max ]] || fail "no memory controller in $cgroup"
    printf '%s' "$limit" >"$cgroup/memory.max"
    [[ ! -f $cgroup/memory.swap.max ]] || printf 0 >"$cgroup/memory.swap.max"
  else
    cgroup=/sys/fs/cgroup/memory/$name
    error=$(mkdir "$cgroup" 2>&1) || { cgroup=; fail "no cgroup: $error"; }
    printf '%s' "$limit" >"$cgroup/memory.limit_in_bytes"
  fi
}

# Removes the group, if there is one; its processes have ended.
remove_cgroup() {
  [[ -z $cgroup ]] || rmdir "$cgroup" || true
  cgroup=
}

run_in_cgroup() {
  bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' bash "$cgroup" "$@"
}
