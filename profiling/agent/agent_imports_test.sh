#!/usr/bin/env bash
# The agent needs the C library alone, and calls nothing of it that may allocate
# where it is inside of malloc.
set -euo pipefail

agent=$1
imports=$(readelf --wide --dyn-syms "$agent" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }')
[[ $imports == *pthread_mutex_lock* ]] || { echo "no imports were read"; exit 1; }

# The first allocates, after dlopen of libraries with storage of their own.
for name in __tls_get_addr malloc calloc realloc free _Znwm _ZdlPv \
  __cxa_throw __cxa_begin_catch __cxa_guard_acquire _Unwind_Resume \
  pthread_getattr_np backtrace fopen opendir; do
  if grep -qx "$name" <<<"$imports"; then
    echo "the agent calls $name"
    exit 1
  fi
done

libraries=$(readelf --wide --dynamic "$agent" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
[[ $libraries == "ld-linux-x86-64.so.2 libc.so.6 libm.so.6 " ]] || {
  echo "the agent brings along: $libraries"
  exit 1
}
