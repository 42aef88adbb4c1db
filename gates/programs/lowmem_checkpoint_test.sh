#!/usr/bin/env bash
# Runs a checkpoint as a bundle with the host's lowmem program. Streamed past
# the page cache, it fits a budget that is smaller than its weights. Resident,
# or through the page cache, which counts, it does not fit.
set -euo pipefail
try=$PWD/gates/programs/try_main
lowmem=$PWD/lowmem/programs/lowmem_run
cd "$TEST_TMPDIR"
# O_DIRECT needs a disk.
export TMPDIR=$TEST_TMPDIR

fail() {
  echo "FAILED: $*" >&2
  cat out >&2
  exit 1
}
# expect STATUS ARGUMENT...: checks the exit status of try; its output is in
# "out".
expect() {
  local want=$1 status=0
  shift
  "$try" --unexplained "$@" >out 2>&1 || status=$?
  [[ $status == "$want" ]] || fail "try $* ended with $status, not $want"
}
says() { grep -qF -- "$1" out || fail "it does not say: $1"; }

if ! "$try" --host >out; then
  [[ -z ${FOOTPRINT_SANDBOX_REQUIRED:-} ]] || fail "this host lacks a mechanism"
  echo "SKIPPED: $(cat out)" >&2
  exit 0
fi
# 3 layers of 7 MiB.
"$OLDPWD/lowmem/programs/lowmem_generate" --shape=minilm --layers=3 --hidden=384 \
  --heads=6 --intermediate=1536 --vocabulary=100 --positions=40 model 2>log
weights=$(stat -c %s model/model.safetensors)
((weights > 20 << 20)) || fail "a checkpoint of $weights bytes"

# bundle BACKEND: makes the bundle with this backend for the weights.
bundle() {
  cat >model/bundle.textproto <<END
schema_version: 1
kind: LOWMEM_CHECKPOINT
entry: "model.safetensors"
arguments: "--ids=1,2,3"
arguments: "--backend=$1"
$2data: "config.json"
label: "//models:minilm"
END
}
bundle direct 'arguments: "--budget=least" '
expect 2 model --budget=16MiB
says "no lowmem program"
expect 0 model --budget=16MiB --lowmem="$lowmem"
says "ACCEPT 1 deployment"
bundle pread 'arguments: "--budget=least" '
expect 1 model --budget=16MiB --lowmem="$lowmem"
bundle resident ""
expect 1 model --budget=16MiB --lowmem="$lowmem"
says "REJECT 1 deployment"
expect 0 model --budget=64MiB --lowmem="$lowmem"
