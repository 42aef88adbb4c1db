#!/usr/bin/env bash
# Debian's programs say, write and return under memprof what they do without it.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
cd "$scratch" || exit 1
export LC_ALL=C HOME=$scratch GIT_CONFIG_NOSYSTEM=1
present=()

# same STATUS COMMAND...: alone and measured, its output, errors and status.
same() {
  local wanted=$1 status=0
  shift
  if [[ ! -x $(command -v "$1") ]]; then
    skip "no $1 here"
    return
  fi
  "$@" <input >alone.out 2>alone.err
  (($? == wanted)) || fail "$* alone ends with another status than $wanted: $(cat alone.err)"
  timeout 120 "$memprof" --json=run.json "$@" <input >measured.out 2>measured.err ||
    status=$?
  ((status == wanted)) || fail "status $status, not $wanted, of: $*"
  cmp alone.out measured.out || fail "the output differs: $*"
  # Its own lines, without memprof's after them.
  head -c "$(stat -c %s alone.err)" measured.err | cmp - alone.err ||
    fail "the errors differ: $*"
  measured="$*"
  check "sum(p['peak_live_bytes'] > 1000 for p in processes) >= 1"
  present+=("$(basename "$1")")
}

printf 'one\ntwo\n' >input
same 0 /usr/bin/python3 -c 'import sys; print(sys.stdin.read()); print(sum(range(10**6)))'
same 1 /usr/bin/python3 -c 'import json, re, ctypes; print("out", flush=True); raise ValueError(5)'
same 4 /usr/bin/python3 -c 'import threading, sys; t = [threading.Thread(target=lambda: bytearray(10**6)) for _ in range(8)]; [x.start() for x in t]; [x.join() for x in t]; sys.exit(4)'
same 0 /usr/bin/python3 -c 'import subprocess; print(subprocess.run(["sort", "-r"], input=b"a\nb\n", capture_output=True).stdout)'
cat >program.c <<'C'
#include <stdio.h>
int main() { int unused; printf("%zu\n", sizeof(long)); return 0; }
C
same 0 gcc -Wall -O2 -o program program.c
./program >/dev/null || fail "what gcc compiled under memprof does not run"
same 1 gcc -c none.c
same 0 sqlite3 :memory: 'create table t(a); insert into t values (1), (2); select sum(a) from t;'
same 1 sqlite3 :memory: 'select * from none;'
git init -q repository && cd repository && git config user.name a && git config user.email a@example.com &&
  cp ../program.c . && git add . && git commit -qm first && cd ..
same 0 git -C repository log --format=%s --stat
same 0 git -C repository grep -n printf
same 128 git -C repository show none
same 0 node -e 'console.log([3, 1, 2].sort().join()); setTimeout(() => console.error("late"), 10)'
same 7 node -e 'process.stdout.write("x".repeat(100000)); process.exitCode = 7'
cat >Hello.java <<'JAVA'
import java.util.*;
public class Hello {
  public static void main(String[] words) throws Exception {
    List<byte[]> blocks = new ArrayList<>();
    for (int i = 0; i < 50; ++i) blocks.add(new byte[100000]);
    Thread thread = new Thread(() -> System.err.println("thread"));
    thread.start();
    thread.join();
    System.out.println(blocks.size());
    System.exit(6);
  }
}
JAVA
if command -v javac >/dev/null; then
  javac Hello.java && same 6 java -Xmx64m Hello
elif command -v java >/dev/null && java --list-modules 2>/dev/null | grep jdk.compiler >/dev/null; then
  same 6 java -Xmx64m Hello.java
else
  same 0 java -Xmx64m -XX:+PrintFlagsFinal -version
fi
same 0 ls -la /usr/lib
# shellcheck disable=SC2016  # the other language's variables
same 0 perl -e 'print join(",", map { $_ * 2 } 1 .. 100000)'
same 0 tar -C / -cf - etc/passwd etc/group
# shellcheck disable=SC2016
same 0 bash -c 'for i in {1..5}; do echo $i | cat; done; sleep 0.01 & wait'

echo "measured: ${present[*]}"
((failures == 0))
