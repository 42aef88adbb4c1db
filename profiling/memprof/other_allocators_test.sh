#!/usr/bin/env bash
# The program's own allocator serves it under memprof, too: whichever that is, the
# program behaves and needs as much memory as alone, and what is not counted is named.
# With the compiler that the machine has.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
cd "$scratch" || exit 1

build() { gcc -O1 -fno-builtin -w -o "$@" 2>build.log || fail "gcc: $(cat build.log)"; }

# resident_alone PROGRAM: the kernel's mark of it, in bytes.
resident_alone() {
  python3 - "$@" <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
PYTHON
}

# as_alone PROGRAM: the resident set is the program's own to 1 %, once the agent's bytes
# are taken off; the agent's own code and data are some hundred KiB.
as_alone() {
  local alone
  alone=$(resident_alone "$@")
  measure --sampling=none "$@" || fail "status $? of $*"
  check "abs(first['peak_resident_bytes'] - first['resident_at_peak']['agent_bytes'] - $alone) <= $alone / 100 + (1 << 20)"
  check "run['container_needs']['limit_bytes'] >= $alone"
}

# Holes of 100,000 bytes, then blocks of 126,000: glibc needs nearly twice what is live.
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
build holes holes.c
as_alone ./holes
check "first['peak_resident_bytes'] > 1.6 * first['peak_live_bytes'] and first['allocator'].startswith('glibc 2.')"

# The C library moves large blocks without a copy, so they are there once.
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
build grow grow.c
as_alone ./grow
check "100 << 20 <= first['peak_live_bytes'] < 101 << 20"

# Sizes are the program's allocator's: whole pages here, where jemalloc would give 1.25 MiB.
cat >classes.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(void) {
  for (int i = 0; i < 50; ++i) memset(malloc(1100000), 1, 1100000);
  return 0;
}
C
build classes classes.c
as_alone ./classes
check "50 * 1100000 <= first['peak_live_bytes'] <= 50 * (1100000 + 8192)"

# The program gives back what a library that binds its own symbols first gets from the C library.
cat >plug.c <<'C'
#include <stdlib.h>
char* take(void) { return malloc(100); }
void give(char* block) { free(block); }
C
cat >deep.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
int main(void) {
  void* plug = dlopen("./plug.so", RTLD_NOW | RTLD_DEEPBIND);
  char* (*take)(void) = (char* (*)(void))dlsym(plug, "take");
  void (*give)(char*) = (void (*)(char*))dlsym(plug, "give");
  for (int i = 0; i < 1000; ++i) { free(take()); give(malloc(100)); give(take()); }
  return 0;
}
C
build plug.so plug.c -shared -fPIC && build deep deep.c -ldl
measure --sampling=0 ./deep || fail "status $? of ./deep"

# A library in front of the C library's malloc that hands on, and one that serves itself.
cat >hand_on.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void* malloc(size_t size) {
  static void* (*next)(size_t);
  if (!next) next = dlsym(RTLD_NEXT, "malloc");
  return next(size);
}
void free(void* block) {
  static void (*next)(void*);
  if (!next) next = dlsym(RTLD_NEXT, "free");
  next(block);
}
// By the name, so that it passes memprof's agent a second time.
void* calloc(size_t n, size_t size) { void* p = malloc(n * size); if (p) memset(p, 0, n * size); return p; }
C
cat >bump.c <<'C'
#include <string.h>
#include <sys/mman.h>
static char* base;
static size_t used;
void* malloc(size_t size) {
  if (!base) base = mmap(0, 1 << 30, 3, 0x4022, -1, 0);
  size_t* block = (size_t*)(base + used);
  used += (size + 31) & ~15ul;
  *block = size;
  return block + 2;
}
void free(void* block) {}
void* calloc(size_t n, size_t size) { return malloc(n * size); }
void* realloc(void* old, size_t size) {
  void* block = malloc(size);
  if (old) memcpy(block, old, ((size_t*)old)[-2] < size ? ((size_t*)old)[-2] : size);
  return block;
}
C
cat >hold.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  for (int i = 0; i < 100; ++i) {
    memset(malloc(10248), 1, 10248);
    calloc(1, 10248);
  }
  puts("there");
  return 0;
}
C
build hand_on.so hand_on.c -shared -fPIC && build bump.so bump.c -shared -fPIC && build hold hold.c
export LD_PRELOAD=$PWD/hand_on.so
measure --sampling=0 ./hold || fail "status $? behind hand_on.so"
check "own[-1] in (200, 201) and first['allocator'] == 'hand_on.so' and adds_up"
LD_PRELOAD=$PWD/bump.so
expect 0 "does not report block sizes, so its blocks are not counted (bump.so)" ./hold
[[ $(<output) == there ]] || fail "bump.so does not serve ./hold"
expect 3 "not everything was counted" --limit=1GiB ./hold
# One without headers, whose blocks the C library would take for its own: a text lies before them.
cat >steps.c <<'C'
#include <string.h>
#include <sys/mman.h>
static char* base;
static size_t used;
void* malloc(size_t size) {
  if (!base) base = mmap(0, 1 << 30, 3, 0x4022, -1, 0);
  char* block = base + used;
  used += (size + 15) & ~15ul;
  return block;
}
void free(void* block) {}
void* calloc(size_t n, size_t size) { return malloc(n * size); }
void* realloc(void* old, size_t size) {
  void* block = malloc(size);
  if (old) memmove(block, old, size);
  return block;
}
__attribute__((constructor(101))) static void fill(void) { memset(malloc(32), 'a', 32); }
C
LD_PRELOAD='' build steps.so steps.c -shared -fPIC
LD_PRELOAD=$PWD/steps.so
expect 0 "does not report block sizes, so its blocks are not counted (steps.so)" ./hold
[[ $(<output) == there ]] || fail "steps.so does not serve ./hold"
unset LD_PRELOAD

# An entry script that puts its allocator first, as services do: it stays first.
library=$(find /usr/lib -name libjemalloc.so.2 2>/dev/null | head -n 1)
if [[ -n $library ]]; then
  # shellcheck disable=SC2016  # The entry script's own.
  printf '#!/bin/sh\nLD_PRELOAD=%s:$LD_PRELOAD exec "$@"\n' "$library" >entry
  chmod +x entry
  expect 0 "(private in libjemalloc.so.2)" ./entry ./hold
  [[ $(<output) == there ]] || fail "the entry script's program says '$(<output)'"
  # Behind the agent, it is counted, by its own sizes.
  export LD_PRELOAD=$library
  measure --sampling=0 ./hold || fail "status $? behind jemalloc"
  unset LD_PRELOAD
  check "first['allocator'] == 'libjemalloc.so.2' and adds_up"
  # Beside the blocks, the C++ library that jemalloc needs has a pool of its own.
  check "200 * 12288 <= first['peak_live_bytes'] <= 200 * 12288 + 90000 and first['peak_mapped_bytes'] == 0"
else
  skip "no libjemalloc.so.2 here"
fi

((failures == 0))
