#!/usr/bin/env bash
# With adapters the plan is smaller, and their gradients and states are.
set -euo pipefail

fail() {
  printf 'lora_memory_test: %s\n' "$*" >&2
  exit 1
}
readonly PROGRAM=$PWD/trainer_manager/programs/lora_memory
output=$("$PROGRAM" --words=500 --layers=2 --width=128 --positions=32) || fail "exited $?"
# Adapters: 2 layers of 2 x (8 x 128 + 128 x 8), and the head's 128 x 2 + 2.
grep -Eq '^adapters: .* states 0\.1, gradients 0\.0,' <<<"$output" || fail "printed $output"
awk '/^whole:/ {whole = $2} /^adapters:/ {adapters = $2} END {exit !(adapters < whole * 0.6)}' \
  <<<"$output" || fail "the plan with adapters is not smaller: $output"

status=0
"$PROGRAM" --rank=2000 >/dev/null 2>"$TEST_TMPDIR/log" || status=$?
((status == 1)) || fail "a rank above the width: exited $status"
grep -q 'a rank from 1 to 1024' "$TEST_TMPDIR/log" || fail "$(cat "$TEST_TMPDIR/log")"
echo passed
