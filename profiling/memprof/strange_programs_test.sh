#!/usr/bin/env bash
# Programs and surroundings that memprof must measure, or refuse with the reason.
# Built here, by the compiler that is there.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
cd "$scratch" || exit 1

cat >hello.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
  for (int i = 0; i < (count > 1 ? atoi(words[1]) : 100); ++i) {
    memset(malloc(10248), 1, 10248);
  }
  puts("hello");
  return 3;
}
C
build() { gcc -O1 -fno-builtin -w -o "$@" 2>build.log; }
build hello hello.c || fail "gcc: $(cat build.log)"

# refused NAME REASON
refused() {
  expect 2 "$2" "./$1"
  [[ ! -s output ]] || fail "$1 ran, though it is refused"
}

# Programs that nothing can be preloaded into.
for name in asan:address tsan:thread lsan:leak; do
  if build "${name%:*}" hello.c -fsanitize="${name#*:}"; then
    refused "${name%:*}" "it is built with a sanitizer (${name%:*})"
  else
    skip "no ${name#*:} sanitizer here"
  fi
done
# As clang links it: the runtime is in the program, and exported.
printf '%s\n' 'void __asan_init(void) {}' | cat hello.c - >clang.c
build clang clang.c -rdynamic && refused clang "sanitizer (asan)"
build static hello.c -static && refused static "linked statically"
build static_pie hello.c -static-pie && refused static_pie "linked statically"
if command -v musl-gcc >/dev/null; then
  musl-gcc -o musl hello.c && refused musl "it uses musl"
else
  skip "no musl-gcc; a program that names musl's loader stands for it"
fi
build loader hello.c -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 &&
  refused loader "it uses musl"
printf '\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0\x01\0\0\0%0100d' 0 >elf32
chmod +x elf32
refused elf32 "built for another processor"
printf '\x7fELF\x02\x01\x01' >'cut' && chmod +x 'cut'
refused cut "cannot be measured"
# A corrupt file of any kind ends in a sentence, never in a crash.
python3 - <<'PYTHON'
import os, random
image = open("hello", "rb").read()
random.seed(1)
for number in range(60):
    corrupt = bytearray(image)
    for _ in range(random.randrange(1, 40)):
        corrupt[random.randrange(0, 1200)] = random.randrange(256)
    if number % 3 == 0:
        corrupt = corrupt[:random.randrange(len(corrupt))]
    with open("corrupt%d" % number, "wb") as file:
        file.write(corrupt)
    os.chmod("corrupt%d" % number, 0o755)
PYTHON
for ((i = 0; i < 60; ++i)); do
  (ulimit -c 0 && timeout 10 "$memprof" ./corrupt$i) >output 2>error
  status=$?
  [[ $status -lt 128 || $(<error) == *"memprof:"* ]] || fail "status $status of corrupt$i: $(cat error)"
done
cp hello other_group && chmod g+s other_group && refused other_group "set-uid"
refused . "is not a program"

# Scripts of scripts, as deep as the kernel goes.
printf '#!/bin/sh\nexit 5\n' >s3 && printf '#!./s3\n' >s2 && printf '#!./s2 word\n' >s1
printf '#!./loop\n' >loop && printf '#!/none/such\n' >no_interpreter && chmod +x s? loop no_interpreter
expect 5 "peak heap" ./s1
refused loop "too deep"
refused no_interpreter "/none/such"
printf '#!/usr/bin/env sh\nexit 6\n' >by_env && chmod +x by_env
expect 6 "peak heap" ./by_env

# A program that ends before main.
echo 'int f(void) { return 1; }' >gone.c && build libgone.so gone.c -shared -fPIC
echo 'int f(void); int main() { return f(); }' >needs.c
build needs needs.c -L. -lgone -Wl,--no-as-needed && rm libgone.so
expect 127 "libgone.so" ./needs
[[ $(<error) == *"ended before main"* ]] || fail "no reason: $(cat error)"

# Where the code lies, and in which build, stays if there are no symbols.
build stripped hello.c -s -Wl,--build-id
measure --sampling=0 ./stripped
check "any('stripped+0x' in site['function'] and site['at_peak_bytes'] == 1024800 for site in first['sites'])"
build_id=$(readelf -n stripped | sed -n 's/.*Build ID: //p')
grep -q "$build_id" run.json || fail "the build id $build_id is lost"

# Allocators that the program brings along.
cat >own.c <<'C'
#include <stdio.h>
#include <string.h>
static char pool[1 << 24];
static size_t used;
void* malloc(size_t size) { void* p = pool + used; used += (size + 15) / 16 * 16; return p; }
void* calloc(size_t n, size_t size) { return malloc(n * size); }
void* realloc(void* p, size_t size) { return p ? memcpy(malloc(size), p, size) : malloc(size); }
void free(void* p) {}
int main(int n, char** words) { for (int i = 0; i < 100; ++i) memset(malloc(10248), 1, 10248); return n > 1 ? 0 : 3; }
C
build own own.c
expect 3 "has an allocator of its own, which is not counted (private in own)" ./own
expect 3 "not everything was counted" --limit=1GiB ./own well
for library in tcmalloc jemalloc; do
  if build with_$library hello.c -Wl,--no-as-needed -l$library; then
    # Its malloc comes behind ours, and has sizes of its own.
    measure --sampling=0 ./with_$library
    check "any(1024800 <= site['at_peak_bytes'] < 1300000 for site in first['sites']) and adds_up"
    check "first['allocator'].startswith('lib$library')"
  else
    skip "no lib$library to link with"
  fi
done

# Libraries that the user preloads come behind the agent, and audits go on.
cat >preloaded.c <<'C'
#include <stdlib.h>
__attribute__((constructor)) void begin(void) {
  setenv("THEIRS", "here", 1);
  for (int i = 0; i < 50; ++i) *(char*)malloc(10248) = 1;
}
C
build preloaded.so preloaded.c -shared -fPIC
measured=preloaded
LD_PRELOAD=$PWD/preloaded.so "$memprof" --sampling=0 --json=run.json \
  sh -c "echo \$THEIRS; exec ./hello" >output 2>error
[[ $(<output) == here*hello ]] || fail "what was preloaded is lost: $(cat output error)"
# Before the agent began, and after. The program has no line numbers, so the
# buffer of its output stands at the same place.
check "run['exit_status'] == 3 and all(p['peak_live_bytes'] >= 512000 for p in processes)"
check "own[-1] >= 150 and any(1024800 <= site['at_peak_bytes'] < 1300000 for site in processes[-1]['sites'])"
cat >audit.c <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
unsigned la_version(unsigned version) { free(malloc(100)); return LAV_CURRENT; }
C
build audit.so audit.c -shared -fPIC
(export LD_AUDIT=$PWD/audit.so && measure --sampling=0 ./hello)
check "any(1024800 <= site['at_peak_bytes'] < 1300000 for site in first['sites'])"

# A thread that a library began before the agent: what it allocates later is
# recorded.
cat >early.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_barrier_t barrier;
static void* held[100];
static void* work(void* unused) {
  free(malloc(100));
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 100; ++i) held[i] = memset(malloc(10248), 1, 10248);
  return held;
}
static pthread_t thread;
__attribute__((constructor)) static void begin(void) {
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&thread, 0, work, 0);
  pthread_barrier_wait(&barrier);
}
void finish(void) { pthread_barrier_wait(&barrier); pthread_join(thread, 0); }
C
echo 'void finish(void); int main() { finish(); return 0; }' >late.c
build libearly.so early.c -shared -fPIC
build late late.c -L. -learly -Wl,-rpath,"$PWD"
measure --sampling=0 ./late
check "any(site['at_peak_bytes'] == 1024800 for site in first['sites'])"

# A child that comes without fork's handlers finds the dynamic loader locked for good.
cat >slow.c <<'C'
#include <unistd.h>
__attribute__((constructor)) static void wait(void) { sleep(1); }
C
cat >locked.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void* open_slow(void* unused) { return dlopen("./slow.so", RTLD_NOW); }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, open_slow, 0);
  usleep(300000);
  pid_t child = _Fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i) memset(malloc(10248), 1, 10248);
    _exit(5);
  }
  int status;
  for (int i = 0; i < 200; ++i, usleep(100000)) {
    if (waitpid(child, &status, WNOHANG) == child) return WEXITSTATUS(status);
  }
  kill(child, SIGKILL);
  return 1;
}
C
build slow.so slow.c -shared -fPIC
build locked locked.c -lpthread
measure --sampling=0 ./locked
status=$?
((status == 5)) || fail "status $status of ./locked: the child waits for the loader's lock"
check "own[1] == 100 and processes[1]['allocator'] == first['allocator']"

# Folders for the records.
mkdir -p relative 'with space'
(export TMPDIR=relative && measure sh -c "cd / && $PWD/hello 30 >/dev/null; $PWD/hello 40")
check "len(processes) == 3 and own[1:] == [30, 40]"
TMPDIR="$PWD/with space" expect 2 "set TMPDIR to another folder" ./hello
(unset TMPDIR && measure ./hello)
check "own == [100]"
if ((EUID == 0)) && mkdir full && mount -t tmpfs -o size=1400k tmpfs full 2>/dev/null; then
  # As full as can be, in steps: each run ends well, or says that it cannot be.
  step=0
  for ((step = 0; step <= 1400; step += 100)); do
    rm -f full/filler
    head -c "${step}k" /dev/zero >full/filler 2>/dev/null
    status=0
    TMPDIR=$PWD/full timeout 20 "$memprof" --sampling=0 ./hello 300 >output 2>error || status=$?
    case $status in
      3) [[ $(<output) == hello && $(<error) == *"peak heap"* ]] || fail "$step KiB full: $(cat error)" ;;
      2) [[ $(<error) == *"memprof: "* ]] || fail "$step KiB full: $(cat error)" ;;
      *) fail "status $status with $step KiB full: $(cat error)" ;;
    esac
    statuses+=" $status"
  done
  [[ $statuses == *3*2* ]] || fail "the disk was never full, or always:$statuses"
  mount -o remount,ro full
  TMPDIR=$PWD/full expect 2 "set TMPDIR to a folder that can be written" ./hello
  umount full
else
  skip "no mount here: neither a full disk nor a read-only folder"
fi

# Whose environment has nothing preloaded is not measured, and is left alone.
expect 3 "" env -i ./hello
[[ $(<output) == hello ]] || fail "env -i: $(cat output)"

((failures == 0))
