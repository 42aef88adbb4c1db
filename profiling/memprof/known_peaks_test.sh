#!/usr/bin/env bash
# Peaks that are known by construction are told to the byte, with each sampling;
# with each allocation recorded, so is every site.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
program=$PWD/$2

peak() { python3 -c "import json; print(json.load(open('$scratch/run.json'))['processes'][0]['peak_live_bytes'])"; }
# Bytes that live beside the blocks: the loader's, before the first of them.
measure --sampling=none "$program" hold || fail "status $?"
base=$(($(peak) - 10248000))
# The C++ library keeps 72,704 bytes for exceptions.
((base >= 0 && base < 100000)) || fail "$base bytes live beside the blocks"

# Threads need 312 bytes each for the library's own table.
while read -r mode bytes thread_bytes; do
  for sampling in none 512KiB 0; do
    # shellcheck disable=SC2086
    measure --sampling=$sampling "$program" ${mode/,/ } || fail "status $? of $mode"
    # With threads, a block that is older than the agent may be free by then.
    check "0 <= $base + $bytes + $thread_bytes - first['peak_live_bytes'] <= ($thread_bytes and 96)"
  done
  check "adds_up and first['sites'][0]['at_peak_bytes'] == $bytes"
done <<'END'
hold 10248000 0
spike 40992000 0
small,0 48000000 0
threads 20496000 1248
END
# So large that it cannot be missed, though it is the first of its thread.
measure --sampling=512KiB "$program" first
# Where there is no other room, glibc rounds it up to whole pages.
check "0 <= first['sites'][0]['at_peak_bytes'] - (64 << 20) <= 2 * 4096"
measure --sampling=0 "$program" sites 3
check "adds_up"
for site in '24, 200000' '72, 50000' '136, 200000' '1032, 2000' '1288, 10000' '10248, 400' '65544, 60' '1048584, 12'; do
  check "[s['at_peak_bytes'] for s in first['sites'] if 'HoldSite<$site>' in s['function']] == [${site/,/ *}]"
  check "[s['at_peak_count'] for s in first['sites'] if 'HoldSite<$site>' in s['function']] == [${site#*,}]"
done
((failures == 0))
