#!/usr/bin/env bash
# The digits example on drawn digits: it learns them, and killed while it trains
# and called again, it ends with the same weights.
set -euo pipefail

fail() {
  printf 'digits_example_test: %s\n' "$*" >&2
  exit 1
}
readonly PROGRAMS=$PWD/trainer_manager/programs
readonly DIGITS=$TEST_TMPDIR/digits.bin
python3 -B "$PROGRAMS/make_digits.py" --drawn=333 "$DIGITS"

mkdir "$TEST_TMPDIR/whole" "$TEST_TMPDIR/killed"
cd "$TEST_TMPDIR/whole"
whole=$("$PROGRAMS/digits_example" "$DIGITS" 3) || fail "exited $?: $whole"
grep -q '^accuracy 0\.9\|^accuracy 1' <<<"$whole" || fail "printed $whole"
grep -q '^accuracy with a new head' <<<"$whole" || fail "printed $whole"

cd "$TEST_TMPDIR/killed"
for seconds in 0.1 0.2 0.4; do
  timeout -s KILL "$seconds" "$PROGRAMS/digits_example" "$DIGITS" 3 >/dev/null 2>&1 || true
done
killed=$("$PROGRAMS/digits_example" "$DIGITS" 3) || fail "exited $?: $killed"
[[ $killed == "$whole" ]] || fail "printed $killed after it was killed, and else $whole"
for file in digits_best head_best; do
  cmp "$file.safetensors" "../whole/$file.safetensors" || fail "$file differs"
done

# Files without digits are refused.
status=0
"$PROGRAMS/digits_example" "$PROGRAMS/make_digits.py" 2>"$TEST_TMPDIR/log" || status=$?
((status == 1)) || fail "no digits: exited $status"
grep -q 'is not a file of make_digits.py' "$TEST_TMPDIR/log" || fail "$(cat "$TEST_TMPDIR/log")"
status=0
python3 -B "$PROGRAMS/make_digits.py" --from=/nowhere "$TEST_TMPDIR/none" 2>"$TEST_TMPDIR/log" ||
  status=$?
((status == 1)) || fail "no package: exited $status"
grep -q '/nowhere: there is no such file; install python3-sklearn' "$TEST_TMPDIR/log" ||
  fail "$(cat "$TEST_TMPDIR/log")"
[[ ! -e $TEST_TMPDIR/none ]] || fail "no package: a file is left"
echo passed
