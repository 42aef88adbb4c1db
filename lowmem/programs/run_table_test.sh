#!/usr/bin/env bash
# The table has a row for each backend, batch and count of tokens, the picture a
# point for each budget, and what fails is said.
set -euo pipefail

fail() {
  printf 'run_table_test: %s\n' "$*" >&2
  exit 1
}
table() {
  python3 lowmem/programs/run_table.py --programs=lowmem/programs --folder="$TEST_TMPDIR" \
    --pairs=1 --seconds=0.01 "$@"
}
# Prints the rows with this model and these tokens, batch and backend.
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
# If a cgroup can be made, it was charged at least the anonymous memory.
awk '$4 == "pread" && $9 != "-" && $9 < $7 { exit 1 }' "$TEST_TMPDIR/table" ||
  fail "a cgroup below its process: $(cat "$TEST_TMPDIR/table")"
# An arena below its budget, a process above it, and reads that took time.
awk '$4 == "pread" && $1 ~ /minilm/ && !($5 < 8 && $6 > $5 && $10 > 0 && $12 > 0) { exit 1 }' \
  "$TEST_TMPDIR/table" || fail "figures that cannot be: $(cat "$TEST_TMPDIR/table")"

# The conditions of the times are printed: the processor, and how the page cache holds the file.
grep -qE '^# .* on .*, (no )?AVX-512$' "$TEST_TMPDIR/table" || fail "no processor is named"
(($(grep -cE '^# .* in the page cache at the end, ([0-9]+ %|unknown) in pieces of 2 MiB$' \
  "$TEST_TMPDIR/table") == 2)) || fail "no page cache: $(cat "$TEST_TMPDIR/table")"
# Processor time and its ratio.
awk '$4 == "mmap" && $1 ~ /minilm/ && !($15 > 0 && $16 > 0) { exit 1 }' "$TEST_TMPDIR/table" ||
  fail "no processor time: $(cat "$TEST_TMPDIR/table")"

table --models=minilm:--layers=1 --tokens=2 --backends=resident,pread --markdown --passes=2 \
  >"$TEST_TMPDIR/page"
(($(grep -cE '^\| minilm:--layers=1 \| 2 \| 1 \| (resident|pread) \|' "$TEST_TMPDIR/page") == 2)) ||
  fail "not two rows of markdown: $(cat "$TEST_TMPDIR/page")"
# The heading, its rule and two rows, of as many cells each.
(($(grep '^|' "$TEST_TMPDIR/page" | awk -F'|' '{ print NF }' | sort -u | wc -l) == 1)) ||
  fail "rows of different lengths: $(cat "$TEST_TMPDIR/page")"

table --models=minilm:--layers=1 --tokens=4 --sweep=512KiB,1MiB,64MiB \
  --picture="$TEST_TMPDIR/sweep.svg" >"$TEST_TMPDIR/sweep"
(($(grep -c '<circle' "$TEST_TMPDIR/sweep.svg") == 6)) ||
  fail "not three points, the resident run's and the legend's two"
for label in '512 KiB' '1 MiB' '64 MiB' 'log scale' 'all weights resident'; do
  grep -q ">[^<]*$label</text>" "$TEST_TMPDIR/sweep.svg" || fail "no \"$label\" in the picture"
done
grep -q '^resident ' "$TEST_TMPDIR/sweep" || fail "no resident run in the sweep"

# The row of the chosen budget has its predicted and its measured time.
table --models=minilm:--layers=1 --tokens=4 --choice >"$TEST_TMPDIR/choice"
grep -qE '^\| minilm:--layers=1 \| 4 \| [0-9.]+ [KM]iB \| 1\.[0-9]{2} \| [0-9.]+ \|$' \
  "$TEST_TMPDIR/choice" || fail "no choice: $(cat "$TEST_TMPDIR/choice")"

# The points fill the picture, whether rates are alike or not.
python3 - "$TEST_TMPDIR/drawn.svg" <<'END' || fail "a picture that cannot be read"
import re, sys
sys.path.insert(0, "lowmem/programs")
import run_table

def check(rates, resident):
    points = [(5.0 * 2**(20 + i), rate, "%dMiB" % 2**i) for i, rate in enumerate(rates)]
    run_table.draw("base/page/draw_line_chart", points, (900.0 * 2**20, resident),
                   ("A title", "A subtitle"), sys.argv[1])
    text = open(sys.argv[1], encoding="utf-8").read()
    heights = [float(y) for y in re.findall(r'<circle [^>]* cy="([\d.]+)"', text)]
    assert len(heights) == 2 + len(rates) + 1, heights  # the legend's are first
    assert max(heights[2:]) - min(heights[2:]) >= 0.4 * 278, (rates, heights)
    assert min(heights[2:]) > max(heights[:2]) + 18, heights

check([183.7, 203.9, 205.3, 198.1, 203.5, 202.0, 204.7, 191.6], 205.0)
check([20.0, 60.0, 100.0, 180.0], 205.0)
check([0.301, 0.302, 0.303, 0.304], 0.31)
END

if table --models=no-such-shape 2>"$TEST_TMPDIR/error"; then fail "a shape that is not there"; fi
grep -q 'lowmem_generate' "$TEST_TMPDIR/error" || fail "the failure has no program"
echo passed
