#!/usr/bin/env bash
# memprof's figures of graphics memory, on a machine that has an NVIDIA device: by
# hand, without Bazel; needs python3, libcuda.so.1 and libnvidia-ml.so.1, and
# nvidia-smi to compare with. Two files beside it: memprof (built -c opt) and
# graphics_memory_program.py.
#
#   graphics_memory_check.sh MEMPROF [FOLDER_FOR_FILES]
#
# Prints every figure, then a line for each expectation, and ends with 1 where one
# was not met. Changes no setting of the device.
set -uo pipefail
MEMPROF=$(realpath "$1")
PROGRAM=$(realpath "$(dirname "$0")/graphics_memory_program.py")
readonly MEMPROF PROGRAM
readonly MEBIBYTES=1024
FILES=${2:-$(mktemp -d)}
mkdir -p "$FILES" && cd "$FILES" || exit 2
failures=0

expect() {
  local said=$1
  shift
  if "$@"; then
    printf 'ok      %s\n' "$said"
  else
    printf 'NOT MET %s\n' "$said"
    failures=$((failures + 1))
  fi
}

# measure NAME COMMAND...: with the page, and nvidia-smi's view meanwhile.
measure() {
  local name=$1 watch
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  (
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader
      nvidia-smi --query-gpu=memory.used --format=csv,noheader
      sleep 0.5
    done
  ) >"$name.smi" 2>&1 &
  watch=$!
  "$MEMPROF" --json="$name.json" --html="$name.html" --sampling=none "$@" \
    >"$name.out" 2>"$name.txt"
  echo $? >"$name.status"
  wait "$watch"
  cat "$name.out"
  grep -A2 '^graphics' "$name.txt"
  printf 'nvidia-smi: '
  sort -u "$name.smi" | tr '\n' ';'
  printf '\n'
}

# figure NAME EXPRESSION: of the list `graphics` (peak_bytes, busy_ns) and `note`.
figure() {
  python3 -B - "$1.json" "$2" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    run = json.load(file)
graphics = run.get("graphics", [])
for each in graphics:
    each["peak_bytes"] = int(each.get("peakBytes", each.get("peak_bytes", 0)))
    each["process_id"] = int(each.get("processId", each.get("process_id", 0)))
    each["busy_ns"] = int(each.get("busyNs", each.get("busy_ns", 0)))
note = run.get("graphicsNote", run.get("graphics_note", ""))
if note:
    print("note:", note)
sys.exit(0 if eval(sys.argv[2]) else 1)
END
}

nvidia-smi --query-gpu=name,driver_version,memory.used,mig.mode.current \
  --format=csv
uname -r
ldd --version | sed -n 1p

measure idle /bin/true
expect 'a program without a device has none' figure idle 'not graphics'

measure hold python3 "$PROGRAM" "$MEBIBYTES" 2
expect 'the exit status is 0' grep -qx 0 hold.status
expect 'the program prints what it prints' grep -q "^took $MEBIBYTES MiB" hold.out
expect "its process, or the device, has $MEBIBYTES MiB and at most 1 GiB more" \
  figure hold "any($MEBIBYTES << 20 <= each['peak_bytes'] <= \
    $MEBIBYTES + 1024 << 20 for each in graphics)"
expect 'it was busy between 0.2 and 4.5 s, where the driver names its process' \
  figure hold "any(2e8 <= each['busy_ns'] <= 4.5e9 or not each['process_id'] \
    for each in graphics)"

measure child python3 "$PROGRAM" "$MEBIBYTES" 2 child
expect "a child's memory is found" \
  figure child "any($MEBIBYTES << 20 <= each['peak_bytes'] for each in graphics)"

if python3 -c 'import torch' 2>/dev/null; then
  readonly TORCH='
import torch
x = torch.ones(1 << 28, device="cuda")
for _ in range(2000):
    x.mul_(1.0)
torch.cuda.synchronize()
print(int(x[:1000].sum().item()), torch.cuda.max_memory_allocated())'
  python3 -c "$TORCH" >torch.expected 2>/dev/null
  measure torch python3 -c "$TORCH"
  expect 'PyTorch prints the same' cmp torch.out torch.expected
  expect 'PyTorch has its 1 GiB' \
    figure torch "any(1 << 30 <= each['peak_bytes'] for each in graphics)"
fi

printf '\n%d expectations were not met; files in %s\n' "$failures" "$FILES"
((failures == 0))
