#!/usr/bin/env bash
# The table has a row for each backend, batch and count of tokens, the picture a
# point for each budget, and what fails is said.
set -euo pipefail

fail() {
  printf 'run_table_test: %s\n' "$*" >&2
  exit 1
}
table() {
  python3 lowmem/run_table.py --programs=lowmem --folder="$TEST_TMPDIR" \
    --pairs=1 --seconds=0.01 "$@"
}
# Rows whose model, tokens, batch and backend are these.
rows() { awk -v want="$1" '$1 " " $2 " " $3 " " $4 == want' "$TEST_TMPDIR/table" | wc -l; }

table --models=minilm:--layers=1,gpt2:--layers=1 --tokens=2,17 --batches=1,3 \
  --backends=resident,pread,mmap >"$TEST_TMPDIR/table"
for backend in resident pread mmap; do
  for tokens in 2 17; do
    for batch in 1 3; do
      (($(rows "minilm:--layers=1 $tokens $batch $backend") == 1)) ||
        fail "not one row for $backend, $tokens tokens, batch $batch: $(cat "$TEST_TMPDIR/table")"
    done
    (($(rows "gpt2:--layers=1 $tokens 1 $backend") == 1)) || fail "no row for gpt2, $backend"
  done
done
# Where a cgroup can be made, it was charged at least the anonymous memory.
awk '$4 == "pread" && $9 != "-" && $9 < $7 { exit 1 }' "$TEST_TMPDIR/table" ||
  fail "a cgroup below its process: $(cat "$TEST_TMPDIR/table")"
# An arena below its budget, a process above it, and reads that took time.
awk '$4 == "pread" && $1 ~ /minilm/ && !($5 < 8 && $6 > $5 && $10 > 0 && $12 > 0) { exit 1 }' \
  "$TEST_TMPDIR/table" || fail "figures that cannot be: $(cat "$TEST_TMPDIR/table")"

table --models=minilm:--layers=1 --tokens=2 --backends=resident,pread --markdown \
  >"$TEST_TMPDIR/page"
(($(grep -cE '^\| minilm:--layers=1 \| 2 \| 1 \| (resident|pread) \|' "$TEST_TMPDIR/page") == 2)) ||
  fail "not two rows of markdown: $(cat "$TEST_TMPDIR/page")"
# The heading, its rule and two rows, of as many cells each.
(($(grep '^|' "$TEST_TMPDIR/page" | awk -F'|' '{ print NF }' | sort -u | wc -l) == 1)) ||
  fail "rows of different lengths: $(cat "$TEST_TMPDIR/page")"

table --models=minilm:--layers=1 --tokens=4 --sweep=512KiB,1MiB,64MiB \
  --picture="$TEST_TMPDIR/sweep.svg" >"$TEST_TMPDIR/sweep"
(($(grep -c '<circle' "$TEST_TMPDIR/sweep.svg") == 4)) || fail "not three points and the legend's"
for label in '512 KiB' '1 MiB' '64 MiB' 'log scale' 'all weights resident'; do
  grep -q ">[^<]*$label</text>" "$TEST_TMPDIR/sweep.svg" || fail "no \"$label\" in the picture"
done
grep -q '^resident ' "$TEST_TMPDIR/sweep" || fail "no resident run in the sweep"

if table --models=no-such-shape 2>"$TEST_TMPDIR/error"; then fail "a shape that is not there"; fi
grep -q 'lowmem_generate' "$TEST_TMPDIR/error" || fail "the failure has no program"
echo passed
