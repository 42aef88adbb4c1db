#!/usr/bin/env bash
# memprof --container: a second run inside the recommended limit, where a control group
# can be made, and a sentence about it in any case.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
cd "$scratch" || exit 1
python=$(command -v /usr/bin/python3 || command -v python3)

# can_limit: whether this user may make a group, by the same two places as memprof.
can_limit() {
  local own group
  own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
  for group in "/sys/fs/cgroup/memory$own" /sys/fs/cgroup/memory /sys/fs/cgroup; do
    if mkdir "$group/footprint_test.$$" 2>/dev/null; then
      rmdir "$group/footprint_test.$$"
      return 0
    fi
  done
  return 1
}

expect 2 "--container has no value" --container=1GiB true
expect 2 "--container runs the program, and --from runs nothing" --container --from=x

cat >hold.py <<'PYTHON'
import os, sys
block = bytearray(b"1") * 60_000_000
print(len(block), len(sys.stdin.read()), flush=True)
with open("runs", "a") as runs:
    runs.write("run\n")
sys.exit(int(os.environ.get("STATUS", "0")))
PYTHON

measure --container "$python" hold.py </dev/null || fail "status $? of hold.py"
[[ $(<output) == "60000000 0" ]] || fail "the program's output came twice, or not: $(<output)"
if can_limit; then
  [[ $(wc -l <runs) == 2 ]] || fail "the program ran $(wc -l <runs) times"
  grep -qF "the limit held: the program ran once more within it and ended as before (a control group of version" error ||
    fail "the report does not say that it held: $(<error)"
  check "run['container_needs']['held'] and 'held' in run['container_needs']['tried']"

  # A status that is not 0, and input from a file, are as before.
  printf 'some input\n' >input
  STATUS=7 measure --container "$python" hold.py <input
  (($? == 7)) || fail "the status is not the program's"
  [[ $(<output) == "60000000 11" ]] || fail "hold.py read '$(<output)'"
  check "run['container_needs']['held']"

  # A program that needs more in its second run is killed, and the report says so.
  rm -f grown
  cat >grow.py <<'PYTHON'
import os
mebibytes = 300 if os.path.exists("grown") else 20
open("grown", "w").close()
block = bytearray(b"1") * (mebibytes << 20)
print(len(block) > 0)
PYTHON
  measure --container "$python" grow.py </dev/null || fail "status $? of grow.py"
  grep -qF "the limit did not hold: the kernel killed a process" error || fail "nobody was killed: $(<error)"
  check "not run['container_needs'].get('held', False)"

  # One that ends otherwise for another reason.
  cat >once.sh <<'SH'
sleep 0.2
mkdir once.made
SH
  measure --container sh once.sh </dev/null || fail "status $? of once.sh"
  grep -qF "a second run within the limit ended differently, with exit status 1 instead of exit status 0" error ||
    fail "not told to have ended otherwise: $(<error)"

  # As a user who may make none.
  if ((EUID == 0)) && command -v setpriv >/dev/null; then
    chmod 777 . && rm -f runs && cp "$memprof" ./own_memprof && chmod 755 own_memprof
    if setpriv --reuid=65534 --regid=65534 --clear-groups ./own_memprof true 2>/dev/null; then
      setpriv --reuid=65534 --regid=65534 --clear-groups ./own_memprof --container "$python" hold.py \
        >output 2>error </dev/null || fail "status $? of another user"
      grep -qF "the limit could not be tried: " error || fail "not told to be untried: $(<error)"
    fi
  fi
else
  skip "no control group of memory can be made here"
  grep -qF "the limit could not be tried: " error || fail "not told to be untried: $(<error)"
  [[ $(wc -l <runs) == 1 ]] || fail "the program ran $(wc -l <runs) times"
fi

((failures == 0))
