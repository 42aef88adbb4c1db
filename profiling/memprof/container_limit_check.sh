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
{ mkdir "$group" && rmdir "$group"; } || fail "no control groups of memory here"

# ends_well LIMIT_MEBIBYTES COMMAND...: as it does without a limit. The group is a new
# one, which nothing is left in that an earlier program brought.
ends_well() {
  local limit=$(($1 * MEBIBYTE)) status=0
  shift
  mkdir "$group"
  echo "$limit" >"$group/$limit_file"
  [[ ! -f $group/memory.swap.max ]] || echo 0 >"$group/memory.swap.max"
  # In braces, so that the shell's own word of a killed program is not shown.
  {
    (
      echo $BASHPID >"$group/cgroup.procs"
      exec "$@"
    ) >limited.out || status=1
  } 2>/dev/null
  until rmdir "$group" 2>/dev/null; do sleep 0.01; done
  ((status == 0)) && cmp -s limited.out free.out
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
  printf '| %s | %s | %s | %s |\n' "$name" "$recommended" "$high" \
    "$(python3 -c "print('%.2f' % ($recommended / $high))")"
}

printf '| program | recommended, MiB | least under which it ends well, MiB | ratio |\n|---|---|---|---|\n'
build() { gcc -O1 -fno-builtin -w -pthread -o "$@"; }

# Python: lists, arrays, workers, files.
check 'python3, a list of 10^6 integers' \
  /usr/bin/python3 -c 'print(sum(list(range(1000000))))'
check 'python3, 6 million appends' /usr/bin/python3 -c '
kept = []
for i in range(6000000): kept.append(None)
print(len(kept))'
check 'python3, 300,000 dicts as JSON' /usr/bin/python3 -c '
import json
print(len(json.dumps([{"a": i, "b": str(i)} for i in range(300000)])))'
check 'python3, a file of 100 MB mapped and read' /usr/bin/python3 -c '
import mmap, tempfile
with tempfile.TemporaryFile(dir=".") as file:
    for _ in range(100): file.write(bytes(1000000))
    file.flush()
    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        print(sum(mapped[i] for i in range(0, len(mapped), 4096)))'
check 'python3, 60 MB in /dev/shm' /usr/bin/python3 -c '
import tempfile
with tempfile.TemporaryFile(dir="/dev/shm") as file:
    for _ in range(60): file.write(b"x" * 1000000)
    print(file.tell())'
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
check 'python3, three children one after the other' /usr/bin/python3 -c '
import subprocess, sys
for mb in (20, 60, 40):
    print(subprocess.run([sys.executable, "-c", f"print(len(bytearray(b\"1\") * {mb}000000))"],
                         capture_output=True).stdout)'

# Programs that show what an allocator does.
if command -v gcc >/dev/null; then
  cat >holes.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(void) {
  enum { N = 1000 };
  static char *a[N], *pin[N], *b[N];
  for (int i = 0; i < N; ++i) {
    a[i] = memset(malloc(100000), 1, 100000);
    pin[i] = memset(malloc(1000), 1, 1000);
  }
  for (int i = 0; i < N; ++i) free(a[i]);
  for (int i = 0; i < N; ++i) b[i] = memset(malloc(126000), 1, 126000);
  return 0;
}
C
  cat >grow.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(void) {
  char* block = 0;
  for (size_t size = 1 << 20; size <= 100 << 20; size += 1 << 20) {
    block = realloc(block, size);
    memset(block + size - (1 << 20), 1, 1 << 20);
  }
  return 0;
}
C
  cat >threads.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_barrier_t barrier;
static void* work(void* unused) {
  for (int i = 0; i < 20000; ++i) memset(malloc(1000), 1, 1000);
  pthread_barrier_wait(&barrier);
  return 0;
}
int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&barrier, 0, 4);
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  return 0;
}
C
  cat >sparse.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(void) {
  char* block = malloc(400 << 20);
  memset(block, 1, 40 << 20);
  return 0;
}
C
  for name in holes grow threads sparse; do build $name $name.c; done
  check 'C, blocks behind holes' ./holes
  check 'C, a block that grows to 100 MiB' ./grow
  check 'C, four threads with 20 MB each' ./threads
  check 'C, a tenth of 400 MiB touched' ./sparse
else
  echo 'container_limit_check: gcc is absent, four rows are left out' >&2
fi

# Programs of Debian's.
readonly HEADER=/usr/include/absl/strings/str_cat.h
if [[ -x /usr/bin/g++ && -f $HEADER ]]; then
  check 'g++, a header of Abseil' g++ -w -fsyntax-only -x c++ "$HEADER"
else
  echo 'container_limit_check: g++ or the header of Abseil is absent, its row is left out' >&2
fi
check 'sort, 2,000,000 lines' bash -c 'seq 2000000 | sort -r -S 40M | tail -1'
check 'awk, 500,000 keys' awk 'BEGIN { for (i = 0; i < 500000; ++i) a["key" i] = i; print length(a) }'
# shellcheck disable=SC2016  # Perl's own.
check 'perl, a hash of 300,000 keys' perl -e 'my %h = map { ("key$_" => $_) } 1..300000; print scalar keys %h'
check 'xz -9, 20 MB' bash -c 'seq 2500000 | xz -9 | wc -c'
# shellcheck disable=SC2016  # The other shell's own.
check 'a shell with 200 children' bash -c 'for i in $(seq 200); do /bin/true; done; echo $i'
