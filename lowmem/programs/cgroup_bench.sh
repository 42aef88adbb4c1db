#!/usr/bin/env bash
# BERT-large inside a memory cgroup of 16 MiB, page cache counted, with its files
# dropped from the page cache first: completes, gives the resident run's bits, and
# how fast against it and against the disk: with perfect overlap, a pass takes as
# long as the slower of computing and reading. A limit is a proof, a reading is
# not. Needs root.
#
#   cgroup_bench [--shape=bert-large-multilingual] [--tokens=512] [--limit=16MiB]
#                [--budget=11MiB] [--pairs=5]
#
# The files lie in TMPDIR, so that names the disk to measure. A disk of a known
# rate is a file in memory behind a loop device with a limit on its reads:
#
#   mount -t tmpfs -o size=6g tmpfs /mnt/memory
#   truncate -s 5500M /mnt/memory/disk && losetup /dev/loop7 /mnt/memory/disk
#   mkfs.ext4 -q /dev/loop7 && mount /dev/loop7 /mnt/disk
#   echo "7:7 1500000000" >/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device
#
# Exit codes: 0 it holds; 1 it does not, or could not be tried (the text says why).
set -euo pipefail

shape=bert-large-multilingual tokens=512 limit_mib=16 budget=11MiB pairs=5
for argument in "$@"; do
  case $argument in
    --shape=*) shape=${argument#*=} ;;
    --tokens=*) tokens=${argument#*=} ;;
    --limit=*MiB) limit_mib=${argument#*=} limit_mib=${limit_mib%MiB} ;;
    --budget=*) budget=${argument#*=} ;;
    --pairs=*) pairs=${argument#*=} ;;
    *)
      printf 'cgroup_bench: unknown argument %s\n' "$argument" >&2
      exit 1
      ;;
  esac
done
bin=$PWD/lowmem/programs
# shellcheck source=lowmem/programs/memory_cgroup.sh
source "$bin/memory_cgroup.sh"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/footprint_cgroup.XXXXXX")

fail() {
  printf 'cgroup_bench: %s\n' "$*" >&2
  exit 1
}
clean() {
  remove_cgroup
  rm -rf "$work"
}
trap clean EXIT

peak_bytes() {
  cat "$cgroup/memory.peak" 2>/dev/null || cat "$cgroup/memory.max_usage_in_bytes"
}

drop_from_cache() {
  sync "$1"
  dd if="$1" iflag=nocache count=0 status=none
  local cached
  cached=$(fincore --bytes --noheadings --output=RES "$1")
  ((cached < 1 << 20)) || fail "$cached bytes of $1 stay in the page cache"
}

disk_gigabytes_per_second() {
  local begin end bytes
  bytes=$(stat -c %s "$1")
  begin=$(date +%s%N)
  dd if="$1" of=/dev/null iflag=direct bs=4M status=none
  end=$(date +%s%N)
  awk "BEGIN { printf \"%.2f\", $bytes / ($end - $begin) }"
}

# Gigabytes that a pass reads, from a report of three passes.
pass_gigabytes() {
  awk '/^weights/ { for (i = 1; i < NF; ++i) if ($(i + 2) == "read") { v = $i; u = $(i + 1) } }
    END { print v * (u == "GiB" ? 1.073741824 : 1.048576e-3) / 3 }' "$1"
}
seconds_of() { awk '$1 == "time" { print $2 }' "$1"; }

main() {
  make_cgroup "$limit_mib"
  mkdir "$work/plain" "$work/model"
  "$bin/lowmem_generate" --shape="$shape" "$work/plain" 2>/dev/null
  "$bin/lowmem_pack" "$work/plain/model.safetensors" "$work/model/model.safetensors" 2>/dev/null
  cp "$work/plain/config.json" "$work/model/"
  rm -r "$work/plain"
  local model=$work/model/model.safetensors
  drop_from_cache "$model"
  local disk
  disk=$(disk_gigabytes_per_second "$model")
  local pair
  for ((pair = 0; pair < pairs; ++pair)); do
    "$bin/lowmem_run" "$work/model" --random_ids="$tokens" --backend=resident \
      --budget=1GiB --repeat=3 --output="$work/resident.out" >"$work/resident.$pair"
    drop_from_cache "$model"
    run_in_cgroup "$bin/lowmem_run" "$work/model" --random_ids="$tokens" --backend=direct \
      --budget="$budget" --repeat=3 --output="$work/direct.out" >"$work/direct.$pair" ||
      fail "the limited run failed: $(cat "$work/direct.$pair")"
    cmp "$work/resident.out" "$work/direct.out" || fail "other bits than the resident run's"
    paste <(seconds_of "$work/direct.$pair") <(seconds_of "$work/resident.$pair")
  done >"$work/times"
  local resident direct ratio low high
  read -r direct resident ratio low high \
    < <(python3 -B tools/bench/turns.py <"$work/times")
  printf '%s, %s tokens, 2 threads, in a cgroup of %s MiB, files dropped first\n' \
    "$shape" "$tokens" "$limit_mib"
  printf 'completes; the output has the bits of the resident run\n'
  printf 'cgroup peak   %s bytes\n' "$(peak_bytes)"
  printf 'direct        %s s (median of %s)\n' "$direct" "$((3 * pairs))"
  printf 'resident      %s s\n' "$resident"
  printf 'ratio         %s (95 %% interval %s to %s)\n' "$ratio" "$low" "$high"
  printf 'disk          %s GB/s, read once past the page cache\n' "$disk"
  local read
  read=$(pass_gigabytes "$work/direct.0")
  awk "BEGIN { reading = $read / $disk; bound = reading > $resident ? reading : $resident
    printf \"bound         %.3f s: a pass reads %.2f GB, %.3f s at the disk's rate\\n\", bound, $read, reading
    printf \"of the bound  %.3f\\n\", bound / $direct }"
  printf 'load          %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
  grep -v '^time' "$work/direct.0"
}

main
